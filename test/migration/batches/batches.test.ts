import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../../database.ts'
import { itAlone } from '../../scaled/alone.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import type { MailServer } from '../../servers/mail-server.ts'
import { startProxy, type Proxy } from '../../servers/proxy.ts'
import { accountOn, fill, read } from '../mailbox.ts'
import { startMigrations, type MigrationTest, type Person } from '../module.ts'

type Counts = Record<string, number>
type Batch = {
  id: string
  status: string
  counts: Counts
  messagesDone: number
  messagesTotal: number
  problems: { code: string; host: string; message: string; count: number }[]
  heldHosts: { host: string; mailboxes: number }[]
  emptyMailboxes: number
}
type Mailbox = {
  id: string
  line: number
  state: string
  verified: boolean
  messagesDone: number
  messagesTotal: number
  passes: number
  isEmpty: boolean
  problem: { code: string; message: string } | null
  source: { user: string }
  migrationId: string | null
}

describe('batches of migrations', () => {
  let from: MailServer
  let to: MailServer
  let slow: Proxy
  let fresh: FreshDatabase
  let instances: MigrationTest[]
  let children: ChildProcess[]
  let alice: Person
  let names = 0

  beforeAll(async () => {
    ;[from, to] = await Promise.all([
      startDovecot({ masters: { admin: 'the master password' } }),
      startDovecot(),
    ])
    slow = await startProxy(to.port, { roundTrip: 0 })
  })
  afterAll(async () => {
    await slow.close()
    await Promise.all([from.stop(), to.stop()])
  })
  beforeEach(async () => {
    ;[instances, children] = [[], []]
    fresh = await freshDatabase()
  })
  afterEach(async () => {
    slow.roundTrip = 0
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(instances.map((one) => one.stop()))
    await fresh.drop()
  })

  async function start(...options: (Parameters<typeof startMigrations>[1] | undefined)[]) {
    instances = await Promise.all(options.map((one) => startMigrations(fresh.url, one)))
    alice = await portreeve().addPerson('Alice')
  }
  const portreeve = () => instances[0] as MigrationTest

  /** New accounts on both servers, with two messages each and one folder of sent mail. */
  async function accounts(count: number, messages = 2): Promise<string[]> {
    const users = Array.from({ length: count }, () => `m${(names += 1)}`)
    for (const user of users) {
      await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
      const letters = Array.from({ length: messages }, () => ({}))
      await fill(accountOn(from.port, user), { INBOX: letters, Work: [{}] })
    }
    return users
  }
  const side = (port: number) => ({ host: '127.0.0.1', port, secure: false })
  const hosts = (port = to.port) => ({ source: side(from.port), destination: side(port) })
  const lines = (users: string[], password = 'secret') =>
    users.map((user) => `${user},${password}\n`).join('')

  type Answer<T> = { status: number; data: T; error: string }
  async function call<T>(
    path: string,
    body?: unknown,
    method?: string,
    person = alice,
  ): Promise<Answer<T>> {
    const { token } = person
    const asked = { token, ...(body !== undefined && { body }), ...(method && { method }) }
    const response = await portreeve().request(`batches${path}`, asked)
    const answer = (await response.json()) as Answer<T>
    return { ...answer, status: response.status }
  }
  async function create(text: string, more: object = {}): Promise<Batch> {
    const body = { name: 'Example Ltd', text: `user,password\n${text}`, ...hosts(), ...more }
    const { status, data, error } = await call<{ batch: Batch }>('', body)
    expect(status, error).toBe(201)
    return data.batch
  }
  async function act(batch: Batch, action: string, body: unknown = {}) {
    const answer = await call<{ queued: number }>(`/${batch.id}/${action}`, body)
    expect(answer.status, answer.error).toBe(200)
    return answer.data
  }
  const find = async ({ id }: Batch) => (await call<Batch>(`/${id}`)).data
  const list = async ({ id }: Batch, query = '?limit=100') =>
    (await call<{ mailboxes: Mailbox[] }>(`/${id}/mailboxes${query}`)).data.mailboxes
  const settled = (batch: Batch, counts: Counts, timeout = 40_000) =>
    vi.waitFor(async () => expect((await find(batch)).counts).toMatchObject(counts), {
      timeout,
      interval: 200,
    })
  const countInbox = async (user: string) =>
    (await read(accountOn(to.port, user)))['INBOX']?.length ?? 0

  it('copy every mailbox with the password of one administrator', async () => {
    await start({})
    const users = await accounts(2)
    const { host, port, secure } = side(from.port)
    const source = { host, port, secure, password: 'the master password' }
    const text = `user,destination_password\n${lines(users)}`
    for (const method of ['authzid', 'master']) {
      const administrator = { user: 'admin', method }
      const batch = await create('', { text, source: { ...source, administrator } })
      await act(batch, method === 'master' ? 'start' : 'dry-run')
      await settled(batch, method === 'master' ? { in_sync: 2 } : { ready: 2 })
      expect((await list(batch)).every(({ verified }) => verified)).toBe(true)
    }
    expect(await countInbox(users[1] as string)).toBe(2)
    const stored = await portreeve().pool.query('select * from batch_mailbox, migration')
    expect(JSON.stringify(stored.rows)).not.toContain('the master password')
  })

  it('say which mailboxes are empty, and that a proof of them proves nothing', async () => {
    await start({})
    const [full] = await accounts(1)
    await Promise.all([from.addUser('hollow', 'secret'), to.addUser('hollow', 'secret')])
    const batch = await create(lines([full as string, 'hollow']))
    expect(batch).toMatchObject({ emptyMailboxes: 0 })
    await act(batch, 'start')
    await settled(batch, { in_sync: 2 })
    expect(await find(batch)).toMatchObject({ emptyMailboxes: 1 })
    const empty = (await list(batch)).filter(({ isEmpty }) => isEmpty)
    expect(empty).toMatchObject([{ messagesTotal: 0 }])
    await act(batch, 'proof')
    const proof = () => call<{ done: number; empty: number }>(`/${batch.id}/proof`)
    await expect
      .poll(async () => (await proof()).data, { timeout: 40_000 })
      .toMatchObject({ done: 2, empty: 1 })
  })

  it(
    'copy every mailbox, group what failed by its cause, and copy the rest once it is corrected',
    { timeout: 120_000 },
    async () => {
      await start({})
      const good = await accounts(26)
      const wrong = await accounts(4)
      const order = [
        ...good.slice(0, 20),
        ...wrong.slice(0, 2),
        ...good.slice(20),
        ...wrong.slice(2),
      ]
      const text = order
        .map((user) => `${user},${wrong.includes(user) ? 'wrong' : 'secret'}\n`)
        .join('')
      const batch = await create(`${text}${good[0]},twice\n`)
      expect(batch).toMatchObject({ status: 'ready', counts: { ready: 30, invalid: 1 } })
      const stored = await portreeve().pool.query('select * from batch_mailbox')
      expect(JSON.stringify(stored.rows)).not.toContain('secret')

      expect(await act(batch, 'dry-run')).toMatchObject({ queued: 30 })
      await settled(batch, { ready: 26, needs_attention: 4 })
      expect(await countInbox(good[0] as string)).toBe(0)
      const checked = (await list(batch)).filter(({ state }) => state === 'ready')
      expect(checked.every(({ messagesTotal, verified }) => verified && messagesTotal === 3)).toBe(
        true,
      )

      expect(await act(batch, 'start')).toMatchObject({ queued: 26 })
      await settled(batch, { in_sync: 26, needs_attention: 4 }, 60_000)
      for (const user of [good[0], good[25]]) expect(await countInbox(user as string)).toBe(2)
      const { problems, messagesDone } = await find(batch)
      expect(messagesDone).toBe(26 * 3)
      expect(problems).toMatchObject([
        { code: 'sign_in', host: '127.0.0.1', count: 4 },
        { code: 'invalid', count: 1, message: `The source is the same as in line 2.` },
      ])
      const alerts = await portreeve().pool.query('select title from alert order by id')
      expect(alerts.rows.at(-1)).toEqual({
        title: '4 mailboxes of the batch Example Ltd need attention',
      })
      expect(alerts.rows.length).toBeLessThanOrEqual(2)

      const body = { text: `user,password\n${lines(wrong)}`, ...hosts(), existing: 'update' }
      expect((await call(`/${batch.id}/rows`, body)).data).toMatchObject({ updated: 4, added: 0 })
      await fill(accountOn(from.port, good[0]), { INBOX: [{}] })
      expect(await act(batch, 'start', { again: true })).toMatchObject({ queued: 30 })
      await settled(batch, { in_sync: 30 }, 60_000)
      expect(await countInbox(good[0] as string)).toBe(3)
      expect(await countInbox(wrong[0] as string)).toBe(2)
      const counted = await portreeve().pool.query('select 1 from migration where counted')
      expect(counted.rowCount).toBe(30)
      expect((await list(batch, `?q=${good[0]}&state=in_sync`))[0]).toMatchObject({ passes: 2 })

      await act(batch, 'finish')
      expect(await find(batch)).toMatchObject({ status: 'finished', counts: { done: 30 } })
      for (const table of ['batch_mailbox_secret', 'migration_secret'])
        expect((await portreeve().pool.query(`select 1 from ${table}`)).rowCount).toBe(0)
      const report = await portreeve().request(`batches/${batch.id}/report.csv`, alice)
      const [header, first] = (await report.text()).split('\r\n')
      expect(header).toMatch(/^line,state,source_host/)
      expect(first).toMatch(new RegExp(`^2,done,127.0.0.1,${good[0]},.*,2,20`))
      expect((await call(`/${batch.id}/start`, {})).status).toBe(409)
    },
  )

  it('retry a corrected mailbox for what it was queued for before', async () => {
    await start({})
    const users = await accounts(1)
    const batch = await create(lines(users, 'wrong'))
    await act(batch, 'dry-run')
    await settled(batch, { needs_attention: 1 })
    const id = (await list(batch))[0]?.id ?? ''
    const right = { source: { password: 'secret' }, destination: { password: 'secret' } }
    expect((await call(`/${batch.id}/mailboxes/${id}`, right, 'PATCH')).status).toBe(200)
    expect(await find(batch)).toMatchObject({ counts: { ready: 1 } })
    expect(await act(batch, 'retry')).toMatchObject({ queued: 0 })
    expect(await act(batch, 'retry', { mailboxes: [id] })).toMatchObject({ queued: 1 })
    await settled(batch, { ready: 1 })
    expect(await countInbox(users[0] as string)).toBe(0)
    expect((await list(batch))[0]).toMatchObject({ verified: true })
  })

  it(
    'hold back mailboxes of a host that rejected three sign-ins in a row',
    { timeout: 60_000 },
    async () => {
      await start({ concurrency: 1 })
      const users = await accounts(6)
      const batch = await create(lines(users.slice(0, 5), 'wrong') + lines(users.slice(5)))
      await act(batch, 'start')
      const held = await vi.waitFor(
        async () => {
          const found = await find(batch)
          expect(found.heldHosts).toHaveLength(1)
          expect(found.counts['syncing']).toBe(0)
          return found
        },
        { timeout: 20_000, interval: 200 },
      )
      // One that was already in the queue of migrations may have been tried as well.
      expect(held.counts['needs_attention']).toBeGreaterThanOrEqual(3)
      expect(held.counts['needs_attention']).toBeLessThanOrEqual(4)
      expect(held.heldHosts[0]).toMatchObject({ host: '127.0.0.1' })
      await act(batch, 'resume')
      await settled(batch, { needs_attention: 5, in_sync: 1 })
    },
  )

  itAlone('a process is killed')(
    'continue where a killed process stopped, pause and resume, without a message twice',
    { timeout: 120_000 },
    async () => {
      await start({ works: false })
      const users = await accounts(6, 40)
      slow.roundTrip = 40
      const batch = await create(lines(users), hosts(slow.port))
      const worker = await spawn()
      await act(batch, 'start')
      await vi.waitFor(async () => expect((await find(batch)).messagesDone).toBeGreaterThan(20), {
        timeout: 30_000,
        interval: 50,
      })
      worker.kill('SIGKILL')
      await spawn()
      await vi.waitFor(async () => expect((await find(batch)).messagesDone).toBeGreaterThan(60), {
        timeout: 60_000,
        interval: 50,
      })
      await act(batch, 'pause')
      expect(await find(batch)).toMatchObject({
        status: 'paused',
        counts: { syncing: 0, queued: 0 },
      })
      slow.roundTrip = 0
      await act(batch, 'resume')
      await settled(batch, { in_sync: 6 }, 60_000)
      for (const user of users) expect(await countInbox(user)).toBe(40)
    },
  )

  async function spawn(): Promise<ChildProcess> {
    const child = fork(join(import.meta.dirname, '../worker-child.ts'), [fresh.url], {
      silent: true,
    })
    children.push(child)
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    return child
  }

  it('never exceed the limit of a host, over two instances', { timeout: 90_000 }, async () => {
    await start({}, {})
    const users = await accounts(8)
    slow.roundTrip = 30
    const batch = await create(lines(users), { ...hosts(slow.port), sourceLimit: 2 })
    await act(batch, 'start')
    let most = 0
    await vi.waitFor(
      async () => {
        const { rows } = await portreeve().pool.query(
          `select count(*)::int as open from migration where status in ('pending', 'running')`,
        )
        most = Math.max(most, rows[0].open as number)
        expect((await find(batch)).counts['in_sync']).toBe(8)
      },
      { timeout: 60_000, interval: 30 },
    )
    expect(most).toBe(2)
  })

  it('belong to their workspace, and refuse what does not fit their state', async () => {
    await start({ works: false })
    const charlie = await portreeve().addPerson('Charlie', 'free')
    const batch = await create('a,secret\nb,\n')
    expect((await call(`/${batch.id}`, undefined, 'GET', charlie)).status).toBe(404)
    expect((await call(`/${batch.id}/start`, {}, 'POST', charlie)).status).toBe(404)
    const [, invalid] = await list(batch)
    expect(invalid).toMatchObject({
      state: 'invalid',
      problem: { message: 'The source password is missing. The destination password is missing.' },
    })
    const one = `/${batch.id}/mailboxes/${invalid?.id}`
    const password = { password: 'secret' }
    expect((await call(one, { source: password }, 'PATCH')).data).toMatchObject({
      state: 'invalid',
    })
    expect((await call(one, { destination: password }, 'PATCH')).data).toMatchObject({
      state: 'ready',
    })
    await act(batch, 'start')
    expect((await call(one, { source: password }, 'PATCH')).status).toBe(200)
    expect((await call(`/${batch.id}`, undefined, 'DELETE')).status).toBe(409)
    await act(batch, 'pause')
    expect((await call(`/${batch.id}/start`, {})).error).toBe(
      'The batch is paused. Resume it first.',
    )
    expect((await call(one, undefined, 'DELETE')).status).toBe(200)
    expect((await call(`/${batch.id}`, undefined, 'DELETE')).status).toBe(200)
    const unknown = await call('', { name: 'x', text: 'a@b.example;c\n' })
    expect([unknown.status, unknown.error]).toEqual([
      400,
      'The columns were not recognized. Name them in “columns”.',
    ])
    const other = await create('c,secret\n')
    const preview = await call('/read', { text: 'user,password\na,secret\n', ...hosts() })
    expect(JSON.stringify(preview.data)).not.toContain('secret')
    const events = await portreeve().request(`batches/${other.id}/events`, alice)
    const reader = (events.body as ReadableStream<Uint8Array>).getReader()
    let stream = ''
    const decoder = new TextDecoder()
    const until = async (text: string) => {
      while (!stream.includes(text)) stream += decoder.decode((await reader.read()).value)
    }
    await until('event: batch\ndata: {"batch":{')
    await act(other, 'start')
    await until('"state":"queued"')
    await reader.cancel()
    expect(preview.data).toMatchObject({ format: 'headers', valid: 1, sample: ['a', '••••••'] })
  })
})

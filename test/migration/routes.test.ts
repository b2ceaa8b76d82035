import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest'
import { deleteWorkspace, restoreWorkspace } from '../../src/accounts/workspaces/workspaces.ts'
import type { Plan } from '../../src/config.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapAccountFake } from '../servers/imap-account-fake.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { accountOn, contents, fill, mail, read } from './mailbox.ts'
import { startMigrations, type Person, type MigrationTest } from './module.ts'
import { itAlone } from '../scaled/alone.ts'

type Status = {
  migrationId: string
  status: string
  queue: { position: number; totalInQueue: number } | null
  errorCount: number
  progress: {
    messagesDone: number
    messagesTotal: number
    errors: { code: string; uid?: number }[]
  }
}

describe('migrations over HTTP', () => {
  let from: MailServer
  let to: MailServer
  let slow: Proxy
  let fresh: FreshDatabase
  let instances: MigrationTest[]
  let alice: Person
  let bob: Person
  let charlie: Person
  let users = 0

  beforeAll(async () => {
    ;[from, to, fresh] = await Promise.all([startDovecot(), startDovecot(), freshDatabase()])
    instances = [await startMigrations(fresh.url)]
    slow = await startProxy(to.port, { roundTrip: 0 })
    await from.addUser('alice', 'secret')
    await fill(accountOn(from.port), {
      INBOX: Array.from({ length: 12 }, () => ({ flags: ['\\Seen'] })),
      'Sent/2024': [{}, {}],
    })
  })
  afterAll(async () => {
    await portreeve().stop()
    await slow.close()
    await Promise.all([from.stop(), to.stop(), fresh.drop()])
  })
  beforeEach(async () => {
    ;[alice, bob, charlie] = await Promise.all([
      newPerson('Alice'),
      newPerson('Bob'),
      newPerson('Charlie'),
    ])
  })
  afterEach(async () => {
    slow.roundTrip = 0
    await Promise.all(instances.splice(1).map((one) => one.stop()))
    await emptyQueue()
  })

  let people = 0
  const newPerson = (name: string, plan?: Plan) =>
    portreeve().addPerson(`${name}${(people += 1)}`, plan)
  /** Every migration has its place in the queue of all. */
  async function emptyQueue(): Promise<void> {
    await fresh.pool.query(`delete from migration where status in ('pending', 'running')`)
    await expect
      .poll(async () => {
        const open = `select from pgboss.job where name = 'migration.run' and state < 'completed'`
        return (await fresh.pool.query(open)).rowCount
      })
      .toBe(0)
  }

  const portreeve = () => instances[0] as MigrationTest
  const source = () => ({
    host: '127.0.0.1',
    port: from.port,
    secure: false,
    user: 'alice',
    password: 'secret',
  })
  /** A new, empty account. */
  async function newDestination(port = to.port) {
    const user = `user${(users += 1)}`
    await to.addUser(user, 'secret')
    return { host: '127.0.0.1', port, secure: false, user, password: 'secret' }
  }
  async function post(path: string, body: unknown, { token } = alice) {
    const response = await portreeve().request(path, { token, body })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, never>,
    }
  }
  async function statusOf(id: string, { token } = alice): Promise<Status> {
    return (await portreeve().request(`migrate/${id}`, { token })).json() as Promise<Status>
  }
  const ends = (id: string, status: string, timeout = 15_000) =>
    vi.waitFor(async () => expect(await statusOf(id)).toMatchObject({ status }), {
      timeout,
      interval: 100,
    })

  it('tests a connection and lists its folders', async () => {
    expect(await post('test-connection', source())).toMatchObject({
      status: 200,
      body: {
        success: true,
        connected: true,
        folderCount: 2,
        listFailed: false,
        statusOnly: false,
        server: { host: '127.0.0.1', port: from.port, secure: false },
      },
    })
    const { body } = await post('list-folders', source())
    expect(body).toMatchObject({
      success: true,
      // Sent only holds a folder: neither of the two counts it.
      data: {
        totalFolders: 2,
        totalMessages: 14,
        usedFallback: false,
        statusOnly: false,
        server: { host: '127.0.0.1', user: 'alice' },
      },
    })
    const { folders } = body['data'] as unknown as { folders: { path: string }[] }
    expect(folders.find(({ path }) => path === 'INBOX')).toMatchObject({
      name: 'INBOX',
      messages: 12,
      unseen: 0,
      delimiter: '/',
      specialUse: '\\Inbox',
    })
    expect(folders.find(({ path }) => path === 'Sent/2024')).toMatchObject({
      name: '2024',
      messages: 2,
      specialUse: null,
    })
  })

  it('explains a failed connection, and never repeats its password (39)', async () => {
    const wrong = await post('test-connection', { ...source(), password: 'hunter2' })
    expect(wrong).toMatchObject({
      status: 422,
      body: { success: false, code: 'upstream_rejected' },
    })
    expect(JSON.stringify(wrong.body)).not.toContain('hunter2')
    expect(await post('list-folders', { ...source(), port: 1 })).toMatchObject({
      status: 502,
      body: { code: 'upstream_unreachable' },
    })
    expect(await post('list-folders', { ...source(), host: '192.168.7.7' })).toMatchObject({
      status: 403,
      body: { code: 'target_not_allowed' },
    })
    expect(await post('test-connection', { host: 'x.example' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
    expect(await post('test-connection', { ...source(), port: '993' })).toMatchObject({
      status: 400,
    })
    expect(await post('test-connection', { ...source(), user: 'a\r\nb' })).toMatchObject({
      status: 400,
    })
  })

  it('copies folders as specified, from 201 to completed', async () => {
    const destination = await newDestination()
    const created = await post('migrate', {
      source: source(),
      destination,
      folders: ['INBOX', 'Sent/2024'],
      destPrefix: 'Old',
    })
    expect(created.status).toBe(201)
    const { migrationId: id } = created.body as unknown as { migrationId: string }
    expect(created.body).toEqual({
      success: true,
      migrationId: id,
      status: 'pending',
      queue: { position: 1, totalInQueue: 1 },
      statusUrl: `/api/v1/imap/migrate/${id}`,
    })
    await ends(id, 'completed')
    expect(await statusOf(id)).toMatchObject({
      success: true,
      srcHost: '127.0.0.1',
      srcUser: 'alice',
      dstUser: destination.user,
      destPrefix: 'Old/',
      folders: ['INBOX', 'Sent/2024'],
      totalFolders: 2,
      totalMessages: 14,
      errorCount: 0,
      queue: null,
      progress: {
        currentFolder: '',
        foldersDone: 2,
        foldersTotal: 2,
        messagesDone: 14,
        messagesTotal: 14,
        skippedByDedup: 0,
        folderProgress: {
          INBOX: { lastUid: 12, doneCount: 12 },
          'Sent/2024': { lastUid: 2, doneCount: 2 },
        },
        errors: [],
      },
    })
    const [there, here] = await Promise.all([
      read(accountOn(to.port, destination.user)),
      read(accountOn(from.port)),
    ])
    expect(contents(there['Old/INBOX'])).toEqual(contents(here['INBOX']))
    expect(contents(there['Old/Sent/2024'])).toEqual(contents(here['Sent/2024']))
  })

  it('stores passwords encrypted while it runs, and deletes them afterwards', async () => {
    const destination = await newDestination()
    destination.password = 'a-password-like-no-other'
    await to.addUser(destination.user, destination.password)
    slow.roundTrip = 300
    const { body } = await post('migrate', {
      source: source(),
      destination: { ...destination, port: slow.port },
      folders: ['INBOX'],
    })
    const dump = async () =>
      JSON.stringify([
        (await fresh.pool.query('select * from migration')).rows,
        (await fresh.pool.query('select * from migration_secret')).rows,
        (await fresh.pool.query('select data from pgboss.job')).rows,
      ])
    expect(await dump()).not.toContain(destination.password)
    expect((await fresh.pool.query('select * from migration_secret')).rows).toHaveLength(1)
    slow.roundTrip = 0
    await ends(body['migrationId'] as unknown as string, 'completed')
    expect((await fresh.pool.query('select * from migration_secret')).rows).toEqual([])
  })

  it('hides a migration from other accounts', async () => {
    const { body } = await post('migrate', {
      source: source(),
      destination: await newDestination(),
      folders: ['INBOX'],
    })
    const id = body['migrationId'] as unknown as string
    for (const { token } of [bob, charlie]) {
      expect((await portreeve().request(`migrate/${id}`, { token })).status).toBe(404)
      expect((await portreeve().request(`migrate/${id}/events`, { token })).status).toBe(404)
      expect(
        (await portreeve().request(`migrate/${id}/cancel`, { token, method: 'POST' })).status,
      ).toBe(404)
      const secrets = { source: { password: 'x' }, destination: { password: 'x' } }
      expect(
        (await portreeve().request(`migrate/${id}/retry`, { token, body: secrets })).status,
      ).toBe(404)
      const list = await portreeve().request('migrations', { token })
      expect(await list.json()).toEqual({
        success: true,
        data: {
          migrations: [],
          pagination: { page: 1, total: 0, totalPages: 0 },
          month: { used: 0, limit: null },
        },
      })
    }
    for (const path of ['migrations', `migrate/${id}`, `migrate/${id}/events`])
      expect((await portreeve().request(path)).status).toBe(401)
    for (const path of ['migrate', 'list-folders', 'test-connection', `migrate/${id}/cancel`])
      expect((await portreeve().request(path, { method: 'POST', body: {} })).status).toBe(401)
    const mine = await portreeve().request('migrations', { token: alice.token })
    expect(await mine.json()).toMatchObject({
      data: {
        migrations: [{ migrationId: id }],
        pagination: { total: 1 },
        month: { used: 1, limit: null },
      },
    })
    await ends(id, 'completed')
  })

  it('rejects an invalid request, names the field, and does not count it (49)', async () => {
    const diana = await newPerson('Diana', 'free')
    const good = { source: source(), destination: await newDestination(), folders: ['INBOX'] }
    const bad: [unknown, string][] = [
      [{ ...good, folders: [] }, 'folders'],
      [{ ...good, folders: Array.from({ length: 201 }, (_, n) => `f${n}`) }, 'folders'],
      [{ ...good, folders: ['a', 'a'] }, 'folders'],
      [{ ...good, folders: ['INBOX', 'inbox'] }, 'folders'],
      [{ ...good, folders: ['a\nb'] }, 'folders.0'],
      [{ ...good, destPrefix: 'a\u0000' }, 'destPrefix'],
      [{ ...good, source: { ...source(), password: undefined } }, 'source.password'],
      [{ ...good, source: { ...source(), host: 'http://x' } }, 'source.host'],
      [{ ...good, destination: undefined }, 'destination'],
      [{ ...good, deduplicate: 'yes' }, 'deduplicate'],
    ]
    for (const [body, path] of bad) {
      const answer = await post('migrate', body, diana)
      expect([answer.status, path, JSON.stringify(answer.body['details'])]).toEqual([
        400,
        path,
        expect.stringContaining(`"${path}"`),
      ])
    }
    expect(
      (await post('migrate', { ...good, source: { ...source(), host: '10.0.0.1' } }, diana)).status,
    ).toBe(403)
    expect((await post('migrate', good, diana)).status).toBe(201)
  })

  it('counts the month correctly for concurrent requests', async () => {
    const erin = await newPerson('Erin', 'starter')
    const destination = await newDestination()
    instances.push(await startMigrations(fresh.url, { works: false }))
    const body = { source: source(), destination, folders: ['INBOX'], deduplicate: true }
    const asked = Array.from({ length: 14 }, (_, n) =>
      (instances[n % 2] as MigrationTest).request('migrate', { token: erin.token, body }),
    )
    const answers = await Promise.all(asked)
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array(5).fill(201),
      ...Array(9).fill(429),
    ])
    const refused = answers.find(({ status }) => status === 429) as Response
    expect(await refused.json()).toEqual({
      success: false,
      error: 'Monthly limit reached (5)',
      code: 'monthly_limit',
    })
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(31 * 86_400)
    const dry = await post('migrate', { ...body, dryRun: true }, erin)
    expect(dry.status).toBe(201)
    await fresh.pool.query(`update migration set counted_at = counted_at - interval '32 days'`)
    expect((await post('migrate', body, erin)).status).toBe(201)
  })

  it(
    'runs four at once and shows the others their position (48)',
    { timeout: 40_000 },
    async () => {
      instances.push(await startMigrations(fresh.url))
      slow.roundTrip = 400
      const ids: string[] = []
      for (let n = 0; n < 6; n++) {
        const { body } = await post('migrate', {
          source: source(),
          destination: await newDestination(slow.port),
          folders: ['INBOX'],
        })
        ids.push(body['migrationId'] as unknown as string)
      }
      await vi.waitFor(
        async () =>
          expect(
            (await Promise.all(ids.map((id) => statusOf(id)))).filter(
              ({ status }) => status === 'running',
            ),
          ).toHaveLength(4),
        5_000,
      )
      const statuses = await Promise.all(ids.map((id) => statusOf(id)))
      expect(statuses.flatMap(({ queue }) => queue ?? [])).toEqual([
        { position: 1, totalInQueue: 2 },
        { position: 2, totalInQueue: 2 },
      ])
      slow.roundTrip = 0
      for (const id of ids) await ends(id, 'completed', 30_000)
    },
  )

  it('cancels waiting and running migrations, and leaves no partial message (48)', async () => {
    slow.roundTrip = 400
    const destination = await newDestination(slow.port)
    const { body } = await post('migrate', { source: source(), destination, folders: ['INBOX'] })
    const id = body['migrationId'] as unknown as string
    await ends(id, 'running')
    const cancelled = await portreeve().request(`migrate/${id}/cancel`, {
      token: alice.token,
      method: 'POST',
    })
    expect(await cancelled.json()).toMatchObject({
      status: 'failed',
      errorCount: 1,
      progress: { errors: [{ code: 'cancelled' }] },
    })
    expect(
      (await portreeve().request(`migrate/${id}/cancel`, { token: alice.token, method: 'POST' }))
        .status,
    ).toBe(409)
    expect((await fresh.pool.query('select * from migration_secret')).rows).toEqual([])
    slow.roundTrip = 0
    const secrets = { source: { password: 'secret' }, destination: { password: 'secret' } }
    expect((await post(`migrate/${id}/retry`, secrets)).body).toMatchObject({
      status: 'pending',
      errorCount: 0,
    })
    await ends(id, 'completed', 30_000)
    const [there, here] = await Promise.all([
      read(accountOn(to.port, destination.user)),
      read(accountOn(from.port)),
    ])
    expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))
    // No alert for a user’s own action or for success.
    expect(await alerts()).toEqual([])
  })

  it('continues in another instance when the service stops (48)', { timeout: 60_000 }, async () => {
    slow.roundTrip = 400
    const destination = await newDestination(slow.port)
    const { body } = await post('migrate', {
      source: source(),
      destination,
      folders: ['INBOX', 'Sent/2024'],
    })
    const id = body['migrationId'] as unknown as string
    await ends(id, 'running')
    await portreeve().stop()
    slow.roundTrip = 0
    instances[0] = await startMigrations(fresh.url)
    await ends(id, 'completed', 40_000)
    const [there, here] = await Promise.all([
      read(accountOn(to.port, destination.user)),
      read(accountOn(from.port)),
    ])
    expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))
  })

  it('is interrupted when its workspace is deleted, and continues after the restore', async () => {
    slow.roundTrip = 400
    const destination = await newDestination(slow.port)
    const { body } = await post('migrate', { source: source(), destination, folders: ['INBOX'] })
    const id = body['migrationId'] as unknown as string
    await ends(id, 'running')
    const { rows: names } = await fresh.pool.query('select name from workspace where id = $1', [
      alice.id,
    ])
    await deleteWorkspace(fresh.db, alice.id, names[0].name, null)
    const held = async () => {
      const { rows } = await fresh.pool.query(
        `select status, alive_at, j.state, j.start_after = w.delete_after as is_held
        from migration m join workspace w on w.id = m.workspace_id
        join pgboss.job j on j.name = 'migration.run' and j.data ->> 'migrationId' = m.id::text
        where m.id = $1`,
        [id],
      )
      return rows[0]
    }
    const waiting = { status: 'pending', alive_at: null, state: 'retry', is_held: true }
    await vi.waitFor(async () => expect(await held()).toEqual(waiting), { timeout: 60_000 })
    await vi.waitFor(() => expect(slow.open()).toBe(0), { timeout: 60_000 })
    // It takes no place in the queue of others.
    const others = await post(
      'migrate',
      {
        source: source(),
        destination: await newDestination(),
        folders: ['INBOX'],
      },
      bob,
    )
    expect(others.body['queue']).toMatchObject({ totalInQueue: 1 })
    slow.roundTrip = 0
    await restoreWorkspace(fresh.db, alice.id, null)
    await ends(id, 'completed', 30_000)
    const there = await read(accountOn(to.port, destination.user))
    expect(contents(there['INBOX'])).toHaveLength(12)
  })

  it('lists messages that were not copied, and retries only those on request', async () => {
    const picky = await startDovecot({
      quota: '100M',
      extra: 'plugin {\n  quota_max_mail_size = 100k\n}',
    })
    await picky.addUser('alice', 'secret')
    const [big, folders] = [`big${(users += 1)}`, ['INBOX']]
    await from.addUser(big, 'secret')
    await fill(accountOn(from.port, big), { INBOX: [{}, { body: mail(300_000) }, {}] })
    const sides = {
      source: { ...source(), user: big },
      destination: { ...source(), port: picky.port },
    }
    const { body } = await post('migrate', { ...sides, folders })
    const id = body['migrationId'] as unknown as string
    const secrets = { source: { password: 'secret' }, destination: { password: 'secret' } }
    await ends(id, 'failed')
    for (let time = 0; time < 2; time++) {
      const error = {
        folder: 'INBOX',
        uid: 2,
        code: 'too_large',
        messageId: expect.stringContaining('@example.org'),
      }
      const progress = { messagesDone: 3, messagesTotal: 3, errors: [error] }
      expect(await statusOf(id)).toMatchObject({ status: 'failed', errorCount: 1, progress })
      expect((await read(accountOn(picky.port)))['INBOX']).toHaveLength(2)
      if (time === 0) expect((await post(`migrate/${id}/retry`, secrets)).status).toBe(200)
      await ends(id, 'failed')
    }
    await picky.stop()
    const kept = 'select from migration_error where migration_id = $1'
    expect((await fresh.pool.query(kept, [id])).rowCount).toBe(1)
    // One for each failure.
    expect(await alerts()).toEqual(Array.from({ length: 2 }, () => failureOf(id, big)))
  })

  const failureOf = (id: string, user: string) => ({
    workspace_id: alice.id,
    kind: 'migration.failed',
    title: 'The migration to alice on 127.0.0.1 failed',
    text: `From ${user} on 127.0.0.1: 3 of 3 messages processed, with 1 error.`,
    path: `/migrations/${id}`,
  })
  const alerts = async () =>
    (
      await fresh.pool.query(
        'select workspace_id, kind, title, text, path from alert where workspace_id = $1',
        [alice.id],
      )
    ).rows

  it('stores a thousand errors and counts all (50)', { timeout: 60_000 }, async () => {
    const broken = await startImapAccountFake({
      INBOX: { count: 1_050, body: () => Buffer.alloc(0) },
    })
    onTestFinished(() => broken.close())
    const body = {
      source: { ...source(), port: broken.port },
      destination: await newDestination(),
      folders: ['INBOX'],
    }
    const { migrationId: id = '' } = (await post('migrate', body)).body
    await ends(id, 'failed', 50_000)
    const { errorCount, progress } = await statusOf(id)
    expect([errorCount, progress.errors.length, progress.messagesDone]).toEqual([
      1_050, 1_000, 1_050,
    ])
    expect(progress.errors[0]).toMatchObject({
      folder: 'INBOX',
      uid: 1,
      size: 0,
      code: 'refused',
      attempts: 1,
    })
    expect(progress.errors[0]).toMatchObject({ message: expect.stringContaining('empty') })
  })

  it('notes changed messages, and keeps the notes after a retry', async () => {
    const body = (uid: number) => Buffer.from(uid === 1 ? 'Subject: undated\r\n\r\nx\r\n' : '')
    const undated = await startImapAccountFake({
      INBOX: { count: 2, body, tells: () => ({ INTERNALDATE: 'NIL' }) },
    })
    onTestFinished(() => undated.close())
    const sides = {
      source: { ...source(), port: undated.port },
      destination: await newDestination(),
    }
    const { migrationId: id = '' } = (await post('migrate', { ...sides, folders: ['INBOX'] })).body
    const notes = [
      { folder: 'INBOX', uid: 1, message: expect.stringContaining('The destination set one') },
    ]
    for (let time = 0; time < 2; time++) {
      await ends(id, 'failed')
      expect((await statusOf(id)).progress).toMatchObject({ messagesDone: 2, notes })
      const secrets = { source: { password: 'secret' }, destination: { password: 'secret' } }
      if (time === 0) expect((await post(`migrate/${id}/retry`, secrets)).status).toBe(200)
    }
  })

  it('stops with one clear word when the destination is full (36)', async () => {
    const tight = await startDovecot({ quota: '200K' })
    await tight.addUser('alice', 'secret')
    const big = `big${(users += 1)}`
    await from.addUser(big, 'secret')
    await fill(accountOn(from.port, big), {
      INBOX: [{ body: mail(1_000) }, { body: mail(900_000) }, {}],
    })
    const sides = {
      source: { ...source(), user: big },
      destination: { ...source(), port: tight.port },
    }
    const { body } = await post('migrate', { ...sides, folders: ['INBOX'] })
    const id = body['migrationId'] as unknown as string
    await ends(id, 'failed')
    const { errorCount, progress } = await statusOf(id)
    expect([errorCount, progress.errors]).toMatchObject([1, [{ code: 'over_quota', folder: '' }]])
    await tight.stop()
  })

  it('sends the current state and every change as events', async () => {
    slow.roundTrip = 100
    const { body } = await post('migrate', {
      source: source(),
      destination: await newDestination(slow.port),
      folders: ['INBOX'],
    })
    const id = body['migrationId'] as unknown as string
    const stop = new AbortController()
    const response = await portreeve().request(`migrate/${id}/events`, {
      token: alice.token,
      signal: stop.signal,
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    let text = ''
    const seen: string[] = []
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      seen.splice(
        0,
        seen.length,
        ...[...text.matchAll(/^event: migration\ndata: (.*)$/gm)].map(
          ([, data = '']) => (JSON.parse(data) as Status).status,
        ),
      )
      if (seen.includes('completed')) break
    }
    expect(['pending', 'running']).toContain(seen[0])
    expect(seen.at(-1)).toBe('completed')
    expect(text).not.toMatch(/workspaceId|"run"|"source"/)
    stop.abort()
  })

  itAlone('closes the server of its own process')(
    'ends its event streams when the service stops',
    async () => {
      const { body } = await post('migrate', {
        source: source(),
        destination: await newDestination(),
        folders: ['INBOX'],
      })
      const response = await portreeve().request(
        `migrate/${body['migrationId'] as unknown as string}/events`,
        {
          token: alice.token,
        },
      )
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      const { value: first } = await reader.read()
      const began = performance.now()
      await portreeve().app.close()
      expect(Buffer.from(first as Uint8Array).toString()).toContain('event: migration')
      // Until it ends.
      while (!(await reader.read()).done);
      expect(performance.now() - began).toBeLessThan(15_000)
      await portreeve().stop()
      instances[0] = await startMigrations(fresh.url)
    },
  )

  it('maps and counts in a dry run, and copies nothing', async () => {
    const destination = await newDestination()
    const { body } = await post('migrate', {
      source: source(),
      destination,
      folders: ['INBOX', 'Sent/2024'],
      destPrefix: 'P',
      folderMap: { 'Sent/2024': 'S' },
      dryRun: true,
    })
    const id = body['migrationId'] as unknown as string
    await ends(id, 'completed')
    expect(await statusOf(id)).toMatchObject({
      dryRun: true,
      totalMessages: 14,
      progress: {
        messagesDone: 0,
        folderProgress: {
          INBOX: { total: 12, destination: 'P/INBOX' },
          'Sent/2024': { destination: 'S' },
        },
      },
    })
    expect(Object.keys(await read(accountOn(to.port, destination.user)))).toEqual(['INBOX'])
  })
})

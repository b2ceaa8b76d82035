import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { accountOn, contents, fill, inside, mail, read } from './mailbox.ts'
import { startMigrations, type MigrationTest, type Person } from './module.ts'

type Sync = {
  nextPassAt: string | null
  passes: number
  lastPass: { changes: Record<string, number> | null; error: string | null } | null
}
type Answer = { error: string; status: string; sync: Sync | null; migrationId: string }

const isHard = Boolean(process.env['PORTREEVE_HARD'])

describe('the standing synchronization of a migration', () => {
  let from: MailServer
  let to: MailServer
  let slow: Proxy
  let fresh: FreshDatabase
  let portreeve: MigrationTest
  let alice: Person
  let charlie: Person
  let users = 0

  beforeAll(async () => {
    ;[from, to, fresh] = await Promise.all([startDovecot(), startDovecot(), freshDatabase()])
    slow = await startProxy(to.port, { roundTrip: 0 })
    portreeve = await startMigrations(fresh.url)
    ;[alice, charlie] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Charlie')]
  })
  afterAll(async () => {
    await portreeve.stop()
    await slow.close()
    await Promise.all([from.stop(), to.stop(), fresh.drop()])
  })

  async function newUser(messages = 3): Promise<string> {
    const user = `s${(users += 1)}`
    await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
    await fill(accountOn(from.port, user), {
      INBOX: Array.from({ length: messages }, () => ({})),
      Archive: [],
    })
    return user
  }
  async function call(path: string, method: string, body?: unknown, person = alice) {
    const { token } = person
    const response = await portreeve.request(path, {
      token,
      method,
      ...(body !== undefined && { body }),
    })
    const answer = (await response.json()) as Answer & { data: never }
    return { ...answer, code: response.status }
  }
  const side = (port: number, user: string, password = 'secret') => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user,
    password,
  })
  async function submit(user: string, sync: object | undefined, port = to.port): Promise<string> {
    const body = {
      source: side(from.port, user),
      destination: side(port, user),
      folders: ['INBOX', 'Archive'],
      ...(sync && { sync }),
    }
    const { code, error, migrationId } = await call('migrate', 'POST', body)
    expect(code, error).toBe(201)
    return migrationId
  }
  const find = (id: string) => call(`migrate/${id}`, 'GET')
  const passes = (id: string, count: number) =>
    vi.waitFor(
      async () => {
        const found = await find(id)
        expect(found.sync?.passes, JSON.stringify(found.sync)).toBeGreaterThanOrEqual(count)
        return found
      },
      { timeout: 40_000, interval: 100 },
    )
  /** Runs a pass now, and returns what it changed. */
  async function pass(id: string, settings: object = { everyMinutes: 30 }) {
    const before = (await find(id)).sync?.passes ?? 0
    const { code, error } = await call(`migrate/${id}/sync`, 'PUT', settings)
    expect(code, error).toBe(200)
    return (await passes(id, before + 1)).sync?.lastPass
  }
  const expectEqual = async (user: string) => {
    const [here, there] = [
      await read(accountOn(from.port, user)),
      await read(accountOn(to.port, user)),
    ]
    for (const folder of ['INBOX', 'Archive'])
      expect(contents(there[folder]), folder).toEqual(contents(here[folder]))
  }
  const run = (user: string, ...commands: string[]) =>
    inside(accountOn(from.port, user), async ({ wire }) => {
      for (const command of commands) await wire.run([command])
    })

  /** Lets others take over at once from a killed worker, which its missing heartbeats would do. */
  async function forgetWorker(id: string): Promise<void> {
    await fresh.pool.query('update migration set alive_at = null where id = $1', [id])
    await fresh.pool.query(
      `update pgboss.job set state = 'retry', start_after = now() where state = 'active' and data ->> 'migrationId' = $1`,
      [id],
    )
  }

  it('copies what is new until it is ended, shows what changed, and deletes the passwords then', async () => {
    const user = await newUser()
    const id = await submit(user, { everyMinutes: 30 })
    const first = await passes(id, 1)
    expect(first).toMatchObject({
      status: 'completed',
      sync: { everyMinutes: 30, lastPass: { error: null } },
    })
    expect(Date.parse(first.sync?.nextPassAt ?? '')).toBeGreaterThan(Date.now() + 25 * 60_000)

    expect((await pass(id))?.changes).toMatchObject({ copied: 0, flags: 0 })
    await fill(accountOn(from.port, user), { INBOX: [{ flags: ['\\Flagged'] }] })
    await run(user, 'SELECT INBOX', 'UID STORE 1 +FLAGS (\\Seen)', 'UID MOVE 2 Archive')
    expect((await pass(id))?.changes).toEqual({
      copied: 1,
      flags: 1,
      moved: 1,
      deleted: 0,
      applied: 0,
    })
    await expectEqual(user)

    await run(user, 'SELECT INBOX', 'UID STORE 3 +FLAGS (\\Deleted)', 'UID EXPUNGE 3')
    expect((await pass(id))?.changes).toMatchObject({ deleted: 1, applied: 0 })
    const recorded = await call(`migrate/${id}/sync/passes`, 'GET')
    expect(recorded.data).toMatchObject({ deletions: { recorded: 1, applied: 0 } })
    const apply = { everyMinutes: 60, deletions: 'apply' }
    expect((await pass(id, apply))?.changes).toMatchObject({ applied: 1 })
    await expectEqual(user)

    const count = () =>
      portreeve.pool.query('select from migration_secret where migration_id = $1', [id])
    expect((await count()).rowCount).toBe(1)
    expect((await call(`migrate/${id}/sync`, 'PUT', { everyMinutes: 30 }, charlie)).code).toBe(404)
    expect((await call(`migrate/${id}/sync/passes`, 'GET', undefined, charlie)).code).toBe(404)
    expect((await call(`migrate/${id}/sync`, 'DELETE', undefined, charlie)).code).toBe(404)
    expect((await call(`migrate/${id}/sync`, 'PUT', { everyMinutes: 1 })).code).toBe(400)
    expect((await call(`migrate/${id}/sync`, 'DELETE')).code).toBe(200)
    expect((await count()).rowCount).toBe(0)
    expect((await call(`migrate/${id}/sync`, 'DELETE')).code).toBe(409)
    expect(await find(id)).toMatchObject({ status: 'completed', sync: null })
    expect((await call(`migrate/${id}/sync`, 'PUT', { everyMinutes: 30 })).code).toBe(400)
  })

  it('holds back deletions of more than half of a folder, with one alert, until they are confirmed', async () => {
    const user = await newUser(6)
    const apply = { everyMinutes: 30, deletions: 'apply' }
    const id = await submit(user, apply)
    await passes(id, 1)
    await run(user, 'SELECT INBOX', 'UID STORE 1:4 +FLAGS (\\Deleted)', 'UID EXPUNGE 1:4')
    expect((await pass(id, apply))?.changes).toMatchObject({ deleted: 4, applied: 0 })
    expect((await pass(id, apply))?.changes).toMatchObject({ deleted: 0, applied: 0 })
    expect((await find(id)).sync).toMatchObject({ heldDeletions: 4 })
    const alerts = await portreeve.pool.query(
      `select from alert where title like '4 deletions%' and path = $1`,
      [`/migrations/${id}`],
    )
    expect(alerts.rowCount).toBe(1)
    expect((await call(`migrate/${id}/sync/deletions`, 'POST', undefined, charlie)).code).toBe(404)
    expect((await call(`migrate/${id}/sync/deletions`, 'POST')).code).toBe(200)
    expect((await call(`migrate/${id}/sync/deletions`, 'POST')).code).toBe(409)
    const after = await passes(id, 4)
    expect(after.sync).toMatchObject({ heldDeletions: 0, lastPass: { changes: { applied: 4 } } })
    await expectEqual(user)
  })

  it('waits for a person after a rejected password, alerts once, and goes on after a retry', async () => {
    const user = await newUser()
    const id = await submit(user, { everyMinutes: 30 })
    await passes(id, 1)
    const wrong = { source: { password: 'wrong' }, destination: { password: 'secret' } }
    const settings = { everyMinutes: 30, ...wrong }
    expect(await pass(id, settings)).toMatchObject({ error: expect.stringContaining('refused') })
    expect(await find(id)).toMatchObject({ status: 'failed', sync: { nextPassAt: null } })
    await pass(id, settings)
    const alerts = await portreeve.pool.query(
      `select from alert where kind = 'migration.failed' and path = $1`,
      [`/migrations/${id}`],
    )
    expect(alerts.rowCount).toBe(1)
    const { sync } = await find(id)
    const secrets = { source: { password: 'secret' }, destination: { password: 'secret' } }
    expect((await call(`migrate/${id}/retry`, 'POST', secrets)).code).toBe(200)
    const { status, sync: after } = await passes(id, (sync?.passes ?? 0) + 1)
    expect([status, after?.lastPass?.error]).toEqual(['completed', null])
    expect(Date.parse(after?.nextPassAt ?? '')).toBeGreaterThan(Date.now())
  })

  it('counts once in each month, and waits for the next one over the limit of the plan', async () => {
    const dave = await portreeve.addPerson('Dave', 'free')
    const user = await newUser()
    const body = {
      source: side(from.port, user),
      destination: side(to.port, user),
      folders: ['INBOX'],
      sync: { everyMinutes: 5 },
    }
    const { migrationId: id } = await call('migrate', 'POST', body, dave)
    const sync = async () => (await call(`migrate/${id}`, 'GET', undefined, dave)).sync
    const used = async () =>
      ((await call('migrations', 'GET', undefined, dave)).data as { month: { used: number } }).month
        .used
    const due = async (passed: number) => {
      await call(`migrate/${id}/sync`, 'PUT', { everyMinutes: 5 }, dave)
      await vi.waitFor(async () => expect((await sync())?.passes).toBe(passed), { timeout: 20_000 })
    }
    await vi.waitFor(async () => expect((await sync())?.passes).toBe(1), { timeout: 20_000 })
    const monthAgo = () =>
      portreeve.pool.query(
        `update migration set counted_at = now() - interval '32 days', created_at = now() - interval '32 days' where id = $1`,
        [id],
      )
    await monthAgo()
    expect(await used()).toBe(0)
    await due(2)
    expect(await used()).toBe(1)
    await due(3)
    expect(await used()).toBe(1)

    await monthAgo()
    await call('migrate', 'POST', { ...body, sync: undefined }, dave)
    await call(`migrate/${id}/sync`, 'PUT', { everyMinutes: 5 }, dave)
    await vi.waitFor(
      async () => expect(Date.parse((await sync())?.nextPassAt ?? '')).toBeGreaterThan(Date.now()),
      { timeout: 20_000 },
    )
    const { nextPassAt } = (await sync()) as Sync
    expect(new Date(nextPassAt ?? '').getUTCDate()).toBe(1)
    expect((await sync())?.passes).toBe(3)
  })

  it('synchronizes all mailboxes of a batch, and ends with it', async () => {
    const names = [await newUser(), await newUser(), await newUser()]
    const address = (port: number) => ({ host: '127.0.0.1', port, secure: false })
    const { data, error } = await call('batches', 'POST', {
      name: 'Example Ltd',
      text: `user,password\n${names.map((user) => `${user},secret\n`).join('')}`,
      source: address(from.port),
      destination: address(to.port),
      sync: { everyMinutes: 30 },
    })
    expect(error).toBeUndefined()
    const { id } = (data as { batch: { id: string } }).batch
    type Found = { sync: Sync | null; counts: Record<string, number>; isSynchronized: boolean }
    const batch = async () => (await call(`batches/${id}`, 'GET')).data as Found
    const allPassed = (passed: number) =>
      vi.waitFor(
        async () => {
          const { rows } = await portreeve.pool.query(
            `select passes from batch_mailbox where batch_id = $1 and state = 'in_sync'`,
            [id],
          )
          expect(rows).toEqual(names.map(() => ({ passes: passed })))
        },
        { timeout: 40_000, interval: 100 },
      )
    await call(`batches/${id}/start`, 'POST', {})
    await allPassed(1)
    await fill(accountOn(from.port, names[1]), { INBOX: [{}] })
    expect((await call(`batches/${id}/sync`, 'PUT', { everyMinutes: 60 }, charlie)).code).toBe(404)
    expect((await call(`batches/${id}/sync`, 'PUT', { everyMinutes: 60 })).code).toBe(200)
    await allPassed(2)
    await expectEqual(names[1] as string)
    expect(await batch()).toMatchObject({
      isSynchronized: true,
      sync: { everyMinutes: 60, synchronized: 3, failing: 0 },
    })
    expect((await call(`batches/${id}/finish`, 'POST', {})).code).toBe(200)
    expect(await batch()).toMatchObject({ isSynchronized: false, sync: null })
    const left = await portreeve.pool.query(
      'select from migration_sync s join migration m on m.id = migration_id where m.batch_id = $1',
      [id],
    )
    expect(left.rowCount).toBe(0)
  })

  it(
    'has every message once when its worker is killed in a pass and between passes',
    { timeout: 120_000 },
    async () => {
      const user = await newUser(20)
      const id = await submit(user, { everyMinutes: 30 }, slow.port)
      await passes(id, 1)
      const letters = Array.from({ length: 400 }, () => ({ body: mail(3_000) }))
      await fill(accountOn(from.port, user), { INBOX: letters, Later: [] })
      await run(
        user,
        'SELECT INBOX',
        'UID MOVE 1:15 Archive',
        'UID STORE 16:20 +FLAGS (\\Answered)',
      )
      await portreeve.stop()
      portreeve = await startMigrations(fresh.url, { works: false })
      slow.roundTrip = 60
      await call(`migrate/${id}/sync`, 'PUT', { everyMinutes: 30 })
      for (const tables of isHard ? ['migration_deletion', 'migration_copy'] : ['migration_copy']) {
        const child = fork(join(import.meta.dirname, 'worker-child.ts'), [fresh.url], {
          stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
        })
        await once(child.stdout as NodeJS.ReadableStream, 'data')
        const { rows } = await fresh.pool.query(
          `select count(*) from ${tables} where migration_id = $1`,
          [id],
        )
        await vi.waitFor(
          async () => {
            const now = await fresh.pool.query(
              `select count(*) from ${tables} where migration_id = $1`,
              [id],
            )
            expect(now.rows).not.toEqual(rows)
          },
          { timeout: 90_000, interval: 20 },
        )
        child.kill('SIGKILL')
        await once(child, 'exit')
        await forgetWorker(id)
      }
      slow.roundTrip = 0
      await portreeve.stop()
      portreeve = await startMigrations(fresh.url)
      await passes(id, 2)
      expect(await find(id)).toMatchObject({ status: 'completed' })
      await expectEqual(user)
      expect((await pass(id))?.changes).toMatchObject({ copied: 0, moved: 0 })
      await expectEqual(user)
    },
  )
})

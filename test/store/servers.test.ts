import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseDatabaseUrl } from '../../src/database-url.ts'
import { createLog } from '../../src/log.ts'
import { isUnavailable, openDatabase, type Database } from '../../src/store/database.ts'
import { notify, openNotifications, type Notifications } from '../../src/store/notifications.ts'
import { execute } from '../servers/postgres.ts'
import { startPostgresPair, type PostgresPair } from '../servers/postgres-pair.ts'

describe('a connection URL', () => {
  it.each([
    ['postgres://u:p@db/x', ['db:5432'], false],
    ['postgres://u:p@db/x?target_session_attrs=read-write', ['db:5432'], true],
    [
      'postgresql://u:p%40@one:1,two,[::1]:3/x?sslmode=disable',
      ['one:1', 'two:5432', '::1:3'],
      true,
    ],
    ['postgres://u@one,two/x?target_session_attrs=any', ['one:5432', 'two:5432'], false],
    ['postgres://u@/x?host=/run/a,/run/b&port=6000', ['/run/a:6000', '/run/b:6000'], true],
    ['postgres://%2Frun%2Fa/x', ['/run/a:5432'], false],
  ])('names servers: %s', (url, servers, needsWritable) => {
    const parsed = parseDatabaseUrl(url)
    expect(parsed.servers.map(({ host, port }) => `${host}:${port}`)).toEqual(servers)
    expect(parsed.needsWritable).toBe(needsWritable)
  })

  it.each([
    ['mysql://u:hunter2@db/x', 'starts with postgres://'],
    ['postgres://u:hunter2@one,,two/x', 'empty host'],
    ['postgres://u:hunter2@one:0,two/x', 'port of 0'],
    ['postgres://u:hunter2@one:5432:1,two/x', '“one:5432:1”'],
    ['postgres://u:hunter2@/x?host=a,b&port=1,2,3', '2 hosts and 3 ports'],
    ['postgres://u:hunter2@a,b/x?target_session_attrs=standby', 'read-write, primary, any'],
    [`postgres://u:hunter2@${'a,'.repeat(16)}a/x`, 'up to 16 hosts'],
  ])('is rejected with the reason and without the password: %s', (url, reason) => {
    expect(() => parseDatabaseUrl(url)).toThrow(reason)
    expect(() => parseDatabaseUrl(url)).toThrow(/^(?!.*hunter2)/s)
  })
})

describe('a primary and its standby', () => {
  let pair: PostgresPair
  let url: string
  let database: Database
  let notifications: Notifications

  beforeAll(async () => {
    pair = await startPostgresPair()
    url = `postgres://postgres@127.0.0.1:${pair.standby.port},127.0.0.1:${pair.primary.port}/postgres`
    database = openDatabase(url)
    notifications = await openNotifications(url, createLog('silent'))
  })
  afterAll(async () => {
    await Promise.all([notifications.close(), database.close()])
    await pair.stop()
  })

  const port = async () =>
    (await database.pool.query<{ port: number }>('select inet_server_port() as port')).rows[0]?.port

  async function isHeard(): Promise<void> {
    const heard = vi.fn()
    const end = notifications.on('test', heard)
    await notify(database.db, 'test', 1)
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 2_000)
    end()
  }

  it('are told apart, whichever comes first', async () => {
    expect(await port()).toBe(pair.primary.port)
    await isHeard()
  })

  it('are left when the primary becomes read-only, and used again when it no longer is', async () => {
    await execute(pair.primary.url, 'create table thing (id int)')
    const configure = async (change: string) => {
      const administrator = `${pair.primary.url}?options=-c%20default_transaction_read_only%3Doff`
      await execute(administrator, `alter system ${change}`)
      await execute(administrator, 'select pg_reload_conf()')
    }
    /** Releases the connection without its error, as Kysely does. */
    const write = async () => {
      const client = await database.pool.connect()
      try {
        await client.query('insert into thing values (0)')
      } finally {
        client.release()
      }
    }
    await write()
    await configure('set default_transaction_read_only = on')
    const errors: unknown[] = []
    await vi.waitFor(async () => {
      errors.push(await write().catch((cause: unknown) => cause))
      expect(errors.at(-1)).toMatchObject({
        message: expect.stringMatching(/^No server accepts writes .*: read-only; .*: read-only/),
      })
    }, 5_000)
    expect(errors.filter((error) => error && !isUnavailable(error))).toEqual([])
    await configure('reset default_transaction_read_only')
    await vi.waitFor(write, 5_000)
  })

  it('give way to the promoted standby when the primary is gone without a word', async () => {
    const lock = 'select pg_try_advisory_lock(1) as ours'
    const holder = await database.pool.connect()
    holder.on('error', () => {})
    await holder.query(lock)
    pair.primary.freeze()
    const hanging = [
      database.pool.query('insert into thing values (1)'),
      holder.query('insert into thing values (2)'),
    ].map((query) => query.catch((cause: unknown) => cause))
    await pair.standby.promote()
    for (const error of await Promise.all(hanging)) expect(isUnavailable(error)).toBe(true)
    holder.release()
    expect(await port()).toBe(pair.standby.port)
    expect((await database.pool.query<{ ours: boolean }>(lock)).rows).toEqual([{ ours: true }])
    await vi.waitFor(isHeard, { timeout: 60_000 })
  })
})

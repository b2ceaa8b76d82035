import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { emptyDatabase, freshDatabase, type FreshDatabase } from '../database.ts'
import { migrate } from '../../src/store/migrate-schema.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { accountOn, contents, fill, mail, read } from './mailbox.ts'
import { startMigrations, type Person, type MigrationTest } from './module.ts'

const isHard = Boolean(process.env['PORTREEVE_HARD'])

describe('a migration of a service that crashes', () => {
  let server: MailServer
  let slow: Proxy
  let fresh: FreshDatabase
  let portreeve: MigrationTest
  let alice: Person
  const children: ChildProcess[] = []

  beforeEach(async () => {
    ;[server, fresh] = await Promise.all([startDovecot(), freshDatabase()])
    slow = await startProxy(server.port, { roundTrip: 20 })
    for (const user of ['alice', 'there']) await server.addUser(user, 'secret')
    await fill(accountOn(server.port), {
      INBOX: Array.from({ length: 700 }, () => ({ body: mail(6_000) })),
    })
  })
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await portreeve.stop()
    await fresh.drop()
    await slow.close()
    await server.stop()
  })

  async function submit(): Promise<string> {
    alice = await portreeve.addPerson('Alice')
    const source = {
      host: '127.0.0.1',
      port: server.port,
      secure: false,
      user: 'alice',
      password: 'secret',
    }
    const body = {
      source,
      destination: { ...source, port: slow.port, user: 'there' },
      folders: ['INBOX'],
    }
    const response = await portreeve.request('migrate', { token: alice.token, body })
    return ((await response.json()) as { migrationId: string }).migrationId
  }
  async function begun({ pool } = fresh): Promise<void> {
    const isBegun = async () => (await pool.query('select from migration_folder')).rows.length > 0
    await vi.waitFor(async () => expect(await isBegun()).toBe(true), {
      timeout: 15_000,
      interval: 10,
    })
  }
  async function copied(): Promise<void> {
    const there = async () => (await read(accountOn(server.port, 'there')))['INBOX'] ?? []
    await vi.waitFor(async () => expect(await there()).not.toEqual([]), {
      timeout: 15_000,
      interval: 10,
    })
  }
  function startChild() {
    const args = [join(import.meta.dirname, 'worker-child.ts'), fresh.url]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    return child
  }
  async function ends(id: string): Promise<void> {
    const status = async () =>
      (await portreeve.request(`migrate/${id}`, { token: alice.token })).json()
    await vi.waitFor(
      async () => expect(await status()).toMatchObject({ status: 'completed', errorCount: 0 }),
      {
        timeout: 100_000,
        interval: 200,
      },
    )
    const [here, there] = await Promise.all([
      read(accountOn(server.port)),
      read(accountOn(server.port, 'there')),
    ])
    expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))
  }

  /** Waits until the service has connections again. */
  async function isConnected(): Promise<void> {
    const others = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    await expect.poll(async () => (await fresh.pool.query(others)).rowCount).not.toBe(0)
  }

  it(
    'continues by itself when the database disconnected it (33)',
    { timeout: 60_000 },
    async () => {
      portreeve = await startMigrations(fresh.url)
      const id = await submit()
      await begun()
      for (let times = 0; times < 2; times++) {
        await fresh.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        )
        await isConnected()
      }
      await ends(id)
    },
  )

  it('continues by itself when the database was killed (33)', { timeout: 120_000 }, async () => {
    const postgres = await startPostgres('embedded', { isDurable: true })
    const own = await emptyDatabase(postgres.url)
    try {
      await migrate(own.pool)
      portreeve = await startMigrations(own.url)
      const id = await submit()
      await begun(own)
      await postgres.crash()
      await ends(id)
    } finally {
      await portreeve.stop()
      await own.drop()
      await postgres.stop()
    }
  })

  it(
    'ends in an instance that is stopped, whose process then ends',
    { timeout: 40_000 },
    async () => {
      portreeve = await startMigrations(fresh.url, { works: false })
      const child = startChild()
      await once(child.stdout, 'data')
      await submit()
      await copied()
      child.kill('SIGTERM')
      expect(await once(child, 'exit')).toEqual([0, null])
    },
  )

  it.skipIf(!isHard)(
    'continues in another instance when its own was killed (33)',
    { timeout: 120_000 },
    async () => {
      portreeve = await startMigrations(fresh.url, { works: false })
      const child = startChild()
      await once(child.stdout, 'data')
      const id = await submit()
      await begun()
      child.kill('SIGKILL')
      await once(child, 'exit')
      const other = await startMigrations(fresh.url)
      await ends(id)
      await other.stop()
    },
  )
})

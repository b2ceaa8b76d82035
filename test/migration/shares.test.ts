import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { SLOT_LIMITS, type SlotLimits } from '../../src/migration/limits.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startImapFake, type ImapFake } from '../servers/imap-fake.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { accountOn, fill, read } from './mailbox.ts'
import { startMigrations, type Person, type MigrationTest } from './module.ts'

type Status = {
  migrationId: string
  status: string
  queue: { position: number; totalInQueue: number } | null
  errorCount: number
  progress: {
    messagesDone: number
    errors: { code: string; message: string }[]
    notes: { message: string }[]
  }
}

/** Starts a server that accepts the sign-in and then only sends keep-alives. */
async function startTarpit(): Promise<ImapFake> {
  const timers: NodeJS.Timeout[] = []
  const fake = await startImapFake({
    script({ name }, reply) {
      if (!['LIST', 'LSUB', 'STATUS', 'EXAMINE'].includes(name)) return false
      timers.push(setInterval(() => reply.say('* OK Still here'), 500))
      return true
    },
  })
  return {
    ...fake,
    async close() {
      timers.forEach(clearInterval)
      await fake.close()
    },
  }
}

describe('the slots of migrations', () => {
  let server: MailServer
  let tarpit: ImapFake
  let fresh: FreshDatabase
  let started: MigrationTest[]
  let alice: Person
  let bob: Person
  let users = 0

  beforeAll(async () => {
    ;[server, tarpit] = await Promise.all([startDovecot(), startTarpit()])
    await server.addUser('alice', 'secret')
    await fill(accountOn(server.port), { INBOX: [{}, {}] })
  })
  afterAll(() => Promise.all([server.stop(), tarpit.close()]))
  beforeEach(async () => void (fresh = await freshDatabase()))
  afterEach(async () => {
    await Promise.all(started.map((one) => one.stop()))
    await fresh.drop()
  })

  async function start(count: number, slots?: Partial<SlotLimits>): Promise<void> {
    const limits = { ...SLOT_LIMITS, ...slots }
    started = await Promise.all(
      Array.from({ length: count }, () => startMigrations(fresh.url, { slots: limits })),
    )
    ;[alice, bob] = [await portreeve().addPerson('Alice'), await portreeve().addPerson('Bob')]
  }
  const portreeve = () => started[0] as MigrationTest
  const source = () => ({
    host: '127.0.0.1',
    port: server.port,
    secure: false,
    user: 'alice',
    password: 'secret',
  })
  const slow = () => ({ ...source(), port: tarpit.port, user: 'x' })
  async function destination() {
    const user = `user${(users += 1)}`
    await server.addUser(user, 'secret')
    return { ...source(), user }
  }
  async function migrate(from: object, { token }: Person, more: object = {}): Promise<Status> {
    const body = { source: from, destination: await destination(), folders: ['INBOX'], ...more }
    const response = await portreeve().request('migrate', { token, body })
    expect(response.status, await response.clone().text()).toBe(201)
    return response.json() as Promise<Status>
  }
  async function statusOf(id: string, { token }: Person): Promise<Status> {
    return (await portreeve().request(`migrate/${id}`, { token })).json() as Promise<Status>
  }
  const states = async (ids: string[], who: Person) =>
    (await Promise.all(ids.map((id) => statusOf(id, who)))).map(({ status }) => status)
  const count = (all: string[], state: string) => all.filter((each) => each === state).length

  it.each([1, 2])(
    'are not all one account’s while another waits, over %d instances',
    { timeout: 60_000 },
    async (instances) => {
      await start(instances)
      const held: string[] = []
      for (const dryRun of [true, true, true, false])
        held.push((await migrate(slow(), alice, { dryRun })).migrationId)
      // Alone, an account has them all.
      await vi.waitFor(
        async () => expect(count(await states(held, alice), 'running')).toBe(4),
        15_000,
      )
      const user = await destination()
      const response = await portreeve().request('migrate', {
        token: bob.token,
        body: { source: source(), destination: user, folders: ['INBOX'] },
      })
      const { migrationId, queue } = (await response.json()) as Status
      expect(queue).toEqual({ position: 1, totalInQueue: 1 })
      const begun = performance.now()
      await vi.waitFor(
        async () => expect((await statusOf(migrationId, bob)).status).toBe('completed'),
        30_000,
      )
      expect(performance.now() - begun).toBeLessThan(25_000)
      expect((await read(accountOn(server.port, user.user)))['INBOX']).toHaveLength(2)
      // The migration that returned its slot waits with its position, and then runs again.
      await vi.waitFor(
        async () => expect(count(await states(held, alice), 'running')).toBe(4),
        20_000,
      )
    },
  )

  it('show each account its real position: accounts take turns', { timeout: 60_000 }, async () => {
    await start(1)
    await portreeve().pool.query('select 1')
    const held = [
      await migrate(slow(), alice),
      await migrate(slow(), alice),
      await migrate(slow(), alice),
    ]
    const four = await migrate(slow(), alice)
    await vi.waitFor(
      async () =>
        expect(
          count(
            await states(
              [...held, four].map((each) => each.migrationId),
              alice,
            ),
            'running',
          ),
        ).toBe(4),
      15_000,
    )
    const waiting = [
      await migrate(source(), alice, { dryRun: true }),
      await migrate(source(), alice, { dryRun: true }),
    ]
    expect(waiting.map(({ queue }) => queue?.position)).toEqual([1, 2])
    const first = await migrate(slow(), bob)
    expect(first.queue?.position).toBe(1)
    await vi.waitFor(
      async () => expect((await statusOf(first.migrationId, bob)).status).toBe('running'),
      20_000,
    )
    expect((await statusOf(waiting[1]?.migrationId ?? '', alice)).status).toBe('pending')
  })

  it(
    'are released by stalled migrations, which are retried and finally fail',
    { timeout: 60_000 },
    async () => {
      await start(1, { standstillMs: 1_500, pauseMs: 500, maxStandstills: 3 })
      const { migrationId } = await migrate(slow(), alice)
      await vi.waitFor(
        async () => {
          const { status, progress } = await statusOf(migrationId, alice)
          expect(status).toBe('pending')
          expect(progress.notes).toMatchObject([
            { message: expect.stringContaining('was queued again to let others run') },
          ])
        },
        { timeout: 20_000, interval: 50 },
      )
      await vi.waitFor(
        async () => {
          const { status, progress, errorCount } = await statusOf(migrationId, alice)
          expect([status, errorCount]).toEqual(['failed', 1])
          expect(progress.errors).toMatchObject([
            { code: 'no_progress', message: expect.stringContaining('3 times in a row') },
          ])
        },
        { timeout: 45_000, interval: 200 },
      )
      expect((await portreeve().pool.query('select 1 from migration_secret')).rows).toEqual([])
    },
  )

  it(
    'are released by a dry run that takes too long, with an error',
    { timeout: 30_000 },
    async () => {
      await start(1, { dryRunMs: 1_500 })
      const { migrationId } = await migrate(slow(), alice, { dryRun: true })
      await vi.waitFor(
        async () => {
          const { status, progress } = await statusOf(migrationId, alice)
          expect(status).toBe('failed')
          expect(progress.errors).toMatchObject([
            { code: 'no_progress', message: expect.stringContaining('The dry run did not end') },
          ])
        },
        { timeout: 20_000, interval: 100 },
      )
    },
  )
})

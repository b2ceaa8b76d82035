import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { defineJob, defineSweep, PutBack, type Job, type JobContext } from '../../src/jobs/job.ts'
import { openQueue, type Queue } from '../../src/jobs/queue.ts'
import { claimableJobs } from '../../src/jobs/shares.ts'
import { startWorker, type Worker } from '../../src/jobs/worker.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'
import { KINDS, startPostgres, type Postgres } from '../servers/postgres.ts'

const log = createLog('silent')
const schema = Type.Object({ n: Type.Number() })

/** One for all tests of a server: each has jobs of its own name. */
let fresh: FreshDatabase
let instances: Instance[] = []

afterEach(async () => {
  await Promise.all(instances.map((instance) => instance.stop()))
  instances = []
})

async function startInstance(job: Job, options: InstanceOptions = {}): Promise<Instance> {
  const instance = await openInstance(fresh.url, job, options)
  instances.push(instance)
  return instance
}

async function stateOf(name: string): Promise<string[]> {
  const { rows } = await fresh.pool.query<{ state: string }>(
    'select state from pgboss.job where name = $1',
    [name],
  )
  return rows.map(({ state }) => state)
}

// PostgreSQL 15 has those that run statements of ours; pg-boss tests its own on each version.
describe.each(KINDS)('jobs on %s', (kind) => {
  let server: Postgres | undefined

  beforeAll(async () => {
    if (kind !== 'embedded') server = await startPostgres(kind)
    fresh = await emptyDatabase(server?.url)
  })
  afterAll(async () => {
    await fresh.drop()
    await server?.stop()
  })

  it('never runs more at once than its concurrency, over all instances together', async () => {
    let [now, most, done] = [0, 0, 0]
    const full = Promise.withResolvers<void>()
    const run = async () => {
      most = Math.max(most, ++now)
      if (now === 4) full.resolve()
      await full.promise
      await sleep(50)
      now--
      done++
    }
    const job = defineJob({ name: 'few', concurrency: 4, run })
    const { queue } = await startInstance(job)
    await startInstance(job)
    await startInstance(job)
    await Promise.all(Array.from({ length: 40 }, () => queue.enqueue(fresh.db, job, {})))
    await vi.waitFor(() => expect(done).toBe(40), 15_000)
    expect(most).toBe(4)
  })

  it('starts in order, also where many wait for few slots', async () => {
    const order: number[] = []
    const run = async ({ n }: { n: number }) => {
      order.push(n)
      await sleep(20)
    }
    const job = defineJob({ name: 'ordered', schema, concurrency: 1, run })
    const { queue } = await startInstance(job, { works: false })
    const numbers = Array.from({ length: 10 }, (_, n) => n)
    for (const n of numbers) await queue.enqueue(fresh.db, job, { n })
    await Promise.all([startInstance(job), startInstance(job)])
    await vi.waitFor(() => expect(order).toHaveLength(10), 10_000)
    expect(order).toEqual(numbers)
  })

  describe('of several accounts', () => {
    const shared = Type.Object({ account: Type.String(), n: Type.Number() })

    it(
      'share the slots: one that has all of them gives one back when another waits',
      { timeout: 30_000 },
      async () => {
        const ends: Record<string, PromiseWithResolvers<void>> = {}
        const running = new Set<string>()
        const attempts: number[] = []
        const job = defineJob({
          name: 'shared',
          schema: shared,
          concurrency: 4,
          accountOf: ({ account }) => account,
          async run({ account, n }, { signal, attempt }) {
            const name = `${account}${n}`
            running.add(name)
            attempts.push(attempt)
            const end = (ends[name] = Promise.withResolvers())
            signal.addEventListener('abort', () => end.reject(signal.reason as Error))
            await end.promise.finally(() => running.delete(name))
          },
        })
        const { queue } = await startInstance(job)
        await startInstance(job)
        for (const n of [1, 2, 3, 4, 5]) await queue.enqueue(fresh.db, job, { account: 'a', n })
        await vi.waitFor(() => expect(running.size).toBe(4), 5_000)
        await queue.enqueue(fresh.db, job, { account: 'b', n: 1 })
        await vi.waitFor(() => expect(running).toContain('b1'), 5_000)
        expect(running.size).toBeLessThanOrEqual(4)
        await queue.enqueue(fresh.db, job, { account: 'b', n: 2 })
        await queue.enqueue(fresh.db, job, { account: 'b', n: 3 })
        await vi.waitFor(
          () => expect([...running].filter((name) => name.startsWith('b'))).toHaveLength(2),
          8_000,
        )
        // Each account has its share of two: no further slot is returned.
        await sleep(3_000)
        expect([...running].filter((name) => name.startsWith('a'))).toHaveLength(2)
        expect(running.size).toBe(4)
        // A returned job runs again, as the same attempt, when a slot is free.
        ends['b1']?.resolve()
        ends['b2']?.resolve()
        await vi.waitFor(() => expect(running).toContain('b3'), 5_000)
        ends['b3']?.resolve()
        await vi.waitFor(
          () => expect([...running].filter((name) => name.startsWith('a'))).toHaveLength(4),
          8_000,
        )
        expect(new Set(attempts)).toEqual(new Set([1]))
        for (const end of Object.values(ends)) end.resolve()
      },
    )

    it('take turns for a single slot', async () => {
      const order: string[] = []
      const job = defineJob({
        name: 'turns',
        schema: shared,
        concurrency: 1,
        accountOf: ({ account }) => account,
        run: async ({ account, n }) => {
          order.push(`${account}${n}`)
          await sleep(20)
        },
      })
      const { queue } = await startInstance(job, { works: false })
      for (const n of [1, 2, 3, 4]) await queue.enqueue(fresh.db, job, { account: 'a', n })
      await queue.enqueue(fresh.db, job, { account: 'b', n: 1 })
      await queue.enqueue(fresh.db, job, { account: 'c', n: 1 })
      await startInstance(job)
      await vi.waitFor(() => expect(order).toHaveLength(6), 10_000)
      expect(order.slice(0, 3)).toEqual(['a1', 'b1', 'c1'])
    })
  })

  it('returns to the end of the queue on request, after its delay and as the same attempt', async () => {
    const order: string[] = []
    const job = defineJob({
      name: 'put-back',
      schema,
      concurrency: 1,
      run: async ({ n }, { attempt }) => {
        order.push(`${n} ${attempt}`)
        if (n === 1 && order.length === 1) throw new PutBack('not now', 300)
      },
    })
    const { queue } = await startInstance(job, { works: false })
    for (const n of [1, 2]) await queue.enqueue(fresh.db, job, { n })
    await startInstance(job)
    await vi.waitFor(() => expect(order).toEqual(['1 1', '2 1', '1 1']), 10_000)
  })

  it('counts as waiting for a worker only when it is due, and only for its account', async () => {
    const job = defineJob({
      name: 'waiting',
      schema,
      concurrency: 1,
      accountOf: ({ n }) => String(n),
      run: async () => {},
    })
    const { queue } = await startInstance(job, { works: false })
    const waiting = async (account: string) =>
      (await claimableJobs('waiting', account).execute(fresh.db)).rows.length
    const later = { startAfter: new Date(Date.now() + 3_600_000) }
    await queue.enqueue(fresh.db, job, { n: 1 }, later)
    await queue.enqueue(fresh.db, job, { n: 2 })
    expect([await waiting('1'), await waiting('2')]).toEqual([0, 1])
    await queue.enqueue(fresh.db, job, { n: 1 })
    expect([await waiting('1'), await waiting('2')]).toEqual([1, 1])
  })
})

describe('jobs', () => {
  beforeAll(async () => void (fresh = await emptyDatabase()))
  afterAll(() => fresh.drop())

  it('runs when the transaction that enqueued it commits, and never when it does not', async () => {
    const run = vi.fn<Job<{ n: number }>['run']>().mockResolvedValue()
    const job = defineJob({ name: 'one', schema, run })
    const { queue } = await startInstance(job)
    const rolledBack = fresh.db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, job, { n: 1 })
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    await fresh.db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, job, { n: 2 })
      await sleep(300)
      expect(run).not.toHaveBeenCalled()
    })
    await vi.waitFor(() => expect(run).toHaveBeenCalledOnce())
    expect(run.mock.calls[0]).toMatchObject([{ n: 2 }, { attempt: 1 }])
  })

  it('starts without a poll, because of a notification', async () => {
    const run = vi.fn(async () => {})
    const job = defineJob({ name: 'quick', run })
    const { queue } = await startInstance(job, { polls: false })
    await queue.enqueue(fresh.db, job, {})
    await vi.waitFor(() => expect(run).toHaveBeenCalledOnce())
  })

  it('waits only once for each unique key', async () => {
    const job = defineJob({
      name: 'unique',
      schema,
      uniqueBy: ({ n }) => String(n),
      run: async () => {},
    })
    const { queue } = await startInstance(job, { works: false })
    expect(await queue.enqueue(fresh.db, job, { n: 1 })).toBe(true)
    expect(await queue.enqueue(fresh.db, job, { n: 1 })).toBe(false)
    expect(await queue.enqueue(fresh.db, job, { n: 2 })).toBe(true)
  })

  it('waits for the transaction that wanted it, also where it waited before', async () => {
    const seen: string[][] = []
    const job: Job = defineSweep({
      name: 'sees-all',
      async run() {
        const { rows } = await fresh.pool.query<{ name: string }>('select name from wanted')
        seen.push(rows.map(({ name }) => name))
      },
    })
    await fresh.pool.query('create table wanted (name text)')
    const { queue } = await startInstance(job, { works: false })
    await queue.enqueue(fresh.db, job, {})
    await fresh.db.transaction().execute(async (trx) => {
      await sql`insert into wanted values ('late')`.execute(trx)
      expect(await queue.enqueue(trx, job, {})).toBe(false)
      expect(await queue.claim(job, 1)).toEqual([])
    })
    await startInstance(job)
    await vi.waitFor(() => expect(seen).toEqual([['late']]), 10_000)
  })

  it('is queued again by a transaction during which the waiting one was claimed', async () => {
    const job: Job = defineSweep({ name: 'claimed-meanwhile', run: async () => {} })
    const { queue } = await startInstance(job, { works: false })
    for (let round = 0; round < 50; round++) {
      await queue.enqueue(fresh.db, job, {})
      const wanted = fresh.db.transaction().execute((trx) => queue.enqueue(trx, job, {}))
      const [first] = await queue.claim(job, 1)
      const isQueued = await wanted
      if (first) await queue.complete(job, first)
      const [second] = await queue.claim(job, 1)
      // Either the transaction queued a second one, or it kept the first one until its end.
      expect([first, second].filter((claimed) => claimed !== undefined)).toHaveLength(
        first && isQueued ? 2 : 1,
      )
      if (second) await queue.complete(job, second)
    }
  })

  it('is retried after a failure, with growing delays, up to a limit', async () => {
    const attempts: number[] = []
    const run = async (_: object, { attempt }: JobContext) => {
      attempts.push(attempt)
      throw new Error('not yet')
    }
    const job = defineJob({ name: 'failing', retry: { limit: 1, delay: 1 }, run })
    const { queue } = await startInstance(job)
    await queue.enqueue(fresh.db, job, {})
    await vi.waitFor(() => expect(attempts).toEqual([1, 2]), 10_000)
    await vi.waitFor(async () => expect(await stateOf('failing')).toEqual(['failed']))
  })

  it('does not start before it is due', async () => {
    const run = vi.fn(async () => {})
    const job = defineJob({ name: 'later', run })
    const { queue } = await startInstance(job)
    await queue.enqueue(fresh.db, job, {}, { startAfter: new Date(Date.now() + 3_600_000) })
    await sleep(300)
    expect(run).not.toHaveBeenCalled()
    expect(await stateOf('later')).toEqual(['created'])
  })

  it('is not enqueued with data that its schema does not know', async () => {
    const job = defineJob({ name: 'strict', schema, run: async () => {} })
    const { queue } = await startInstance(job, { works: false })
    await expect(queue.enqueue(fresh.db, job, { n: 'one' } as never)).rejects.toThrow('its schema')
  })

  it('is aborted when the service stops, and continues in another instance', async () => {
    const ran: string[] = []
    const jobOf = (name: string) =>
      defineJob({
        name: 'long',
        retry: { delay: 1 },
        run: async (_, { signal, attempt }) => {
          ran.push(`${name} ${attempt}`)
          if (attempt === 1) await sleep(60_000, undefined, { signal })
        },
      })
    const first = await startInstance(jobOf('first'))
    await first.queue.enqueue(fresh.db, jobOf('first'), {})
    await vi.waitFor(() => expect(ran).toEqual(['first 1']))
    const begun = performance.now()
    await first.stop()
    expect(performance.now() - begun).toBeLessThan(STOP_MS)
    await startInstance(jobOf('second'))
    await vi.waitFor(() => expect(ran).toEqual(['first 1', 'second 2']), 10_000)
    await vi.waitFor(async () => expect(await stateOf('long')).toEqual(['completed']))
  })

  it('does not hold up a stop for longer than the bound when it does not listen', async () => {
    const end = Promise.withResolvers<void>()
    const job = defineJob({ name: 'deaf', run: () => end.promise })
    const { queue, worker } = await startInstance(job)
    await queue.enqueue(fresh.db, job, {})
    await vi.waitFor(async () => expect(await stateOf('deaf')).toEqual(['active']))
    const begun = performance.now()
    await worker?.stop(200)
    expect(performance.now() - begun).toBeLessThan(STOP_MS)
    expect(await stateOf('deaf')).toEqual(['retry'])
    end.resolve()
  })

  it('is recovered when its instance was killed', { timeout: 40_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-jobs-'))
    const file = join(folder, 'log')
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'child.ts'), fresh.url, file],
      {
        stdio: 'inherit',
      },
    )
    const attempts: number[] = []
    const job = defineJob({
      name: 'endless',
      schema,
      retry: { delay: 1 },
      run: async (_, { attempt }) => void attempts.push(attempt),
    })
    const { queue } = await startInstance(job, { works: false })
    await queue.enqueue(fresh.db, job, { n: 7 })
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toBe('7 1\n'), 10_000)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await startInstance(job)
    await sleep(500)
    expect(attempts).toEqual([])
    // A minute later.
    await fresh.pool.query(
      `update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute'`,
    )
    await vi.waitFor(() => expect(attempts).toEqual([2]), { timeout: 30_000, interval: 200 })
    rmSync(folder, { recursive: true })
  })

  it(
    'is enqueued by its schedule once, however many instances there are',
    { timeout: 40_000 },
    async () => {
      const run = vi.fn(async () => {})
      const job = defineJob({ name: 'minutely', schedule: '* * * * *', run })
      await Promise.all([startInstance(job), startInstance(job)])
      await vi.waitFor(() => expect(run).toHaveBeenCalled(), { timeout: 30_000, interval: 200 })
      const { rows } = await fresh.pool.query(
        `select singleton_on from pgboss.job where name = 'minutely'`,
      )
      expect(new Set(rows.map((row) => String(row.singleton_on))).size).toBe(rows.length)
      expect(rows.length).toBeLessThanOrEqual(2)
    },
  )

  it('removes schedules that a version no longer has', async () => {
    const before = await startInstance(
      defineJob({ name: 'nightly', schedule: '0 3 * * *', run: async () => {} }),
    )
    await before.stop()
    await startInstance(defineJob({ name: 'nightly', run: async () => {} }))
    expect((await fresh.pool.query('select * from pgboss.schedule')).rows).toEqual([])
  })
})

type Instance = { queue: Queue; worker: Worker | null; stop(): Promise<void> }
type InstanceOptions = {
  /** Otherwise it only enqueues. */
  works?: boolean
  /** Otherwise it hears of jobs only from notifications. */
  polls?: boolean
}

/** Milliseconds that a stop waits for a job that does not end. */
const STOP_MS = 10_000

/** All that a process of its own would have. */
async function openInstance(
  url: string,
  job: Job,
  { works = true, polls = true }: InstanceOptions,
): Promise<Instance> {
  const { pool, close } = openDatabase(url)
  const queue = await openQueue({ pool, jobs: [job], log })
  const notifications = await openNotifications(url, log)
  const polled = polls ? queue : { ...queue, listDue: async () => [] }
  const worker = works ? startWorker({ queue: polled, jobs: [job], notifications, log }) : null
  let stopped: Promise<void> | undefined
  async function stop(): Promise<void> {
    await worker?.stop(STOP_MS)
    await queue.close()
    await notifications.close()
    await close()
  }
  return { queue, worker, stop: () => (stopped ??= stop()) }
}

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/jobs/job.ts'
import { openQueue, type Queue } from '../../src/jobs/queue.ts'
import { createLog } from '../../src/log.ts'
import { emptyDatabase, type FreshDatabase } from '../database.ts'
import { KINDS, startPostgres, type Postgres } from '../servers/postgres.ts'

const job = defineJob({ name: 'one', schedule: '* * * * *', run: async () => {} })

describe.each(KINDS)('after the clock of %s was set back by six hours', (kind) => {
  let server: Postgres | undefined
  let fresh: FreshDatabase
  let queue: Queue

  beforeAll(async () => {
    if (kind !== 'embedded') server = await startPostgres(kind)
    fresh = await emptyDatabase(server?.url)
    queue = await openQueue({ pool: fresh.pool, jobs: [job], log: createLog('silent') })
  })
  afterEach(() => fresh.pool.query('delete from pgboss.job'))
  afterAll(async () => {
    await queue.close()
    await fresh.drop()
    await server?.stop()
  })

  /** Makes earlier rows look like future ones. */
  const setBack = async (table: string, columns: string[]) => {
    const set = columns.map((column) => `${column} = ${column} + interval '6 hours'`).join(', ')
    await fresh.pool.query(`update pgboss.${table} set ${set}`)
  }
  const JOB_TIMES = ['created_on', 'start_after', 'started_on', 'heartbeat_on', 'singleton_on']

  it('a job that waits is claimed, at once and once', async () => {
    await queue.enqueue(fresh.db, job, {})
    await setBack('job', JOB_TIMES)
    expect(await queue.claim(job, 10)).toEqual([])
    await queue.clampTimestamps()
    expect(await queue.claim(job, 10)).toHaveLength(1)
    await queue.clampTimestamps()
    expect(await queue.claim(job, 10)).toEqual([])
  })

  it('a job keeps its delay', async () => {
    await queue.enqueue(fresh.db, job, {}, { startAfter: new Date(Date.now() + 3_600_000) })
    await setBack('job', JOB_TIMES)
    await queue.clampTimestamps()
    const { rows } = await fresh.pool.query<{ left: number }>(
      "select extract(epoch from start_after - now())::float8 as left from pgboss.job where name = 'one' and state = 'created'",
    )
    expect(Math.abs((rows[0]?.left ?? 0) - 3_600)).toBeLessThan(10)
  })

  it('a job of a dead instance is recovered, and schedules continue', async () => {
    await queue.enqueue(fresh.db, job, {})
    await queue.claim(job, 1)
    await setBack('job', JOB_TIMES)
    await setBack('version', ['cron_on'])
    await setBack('queue', ['monitor_on', 'monitor_claim_on', 'maintain_on'])
    await queue.clampTimestamps()
    const { rows } = await fresh.pool.query<{ ahead: number }>(`
      select (select count(*) from pgboss.job where heartbeat_on > now() or started_on > now() or singleton_on > now())
        + (select count(*) from pgboss.version where cron_on > now())
        + (select count(*) from pgboss.queue where greatest(monitor_on, monitor_claim_on, maintain_on) > now()) as ahead`)
    expect(Number(rows[0]?.ahead)).toBe(0)
  })
})

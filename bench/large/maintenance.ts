import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { abuseJobs } from '../../src/abuse/abuse-jobs.ts'
import { publish } from '../../src/abuse/export/publish.ts'
import type { Ranges } from '../../src/abuse/ranges/ranges.ts'
import { listHistories } from '../../src/abuse/reputation/reputation.sql.ts'
import { BATCH_REPORTS } from '../../src/dmarc/limits.ts'
import { withdrawReports } from '../../src/dmarc/statistics/withdraw-statistics.ts'
import { deleteExpiredReports } from '../../src/dmarc/expired-reports.sql.ts'
import type { Job, JobContext } from '../../src/jobs/job.ts'
import { createLog } from '../../src/log.ts'
import { deleteExpired } from '../../src/store/retention.ts'
import { backUp, restore } from '../../src/store/backup.ts'
import {
  NIGHTLY_STATEMENT_TIMEOUT_MS,
  withStatementTimeout,
  type Database,
} from '../../src/store/database.ts'
import { DAY_MS } from '../../src/time.ts'
import { CAPTURE_QUOTAS } from '../../src/webhooks/retention/capture-quota.ts'
import { webhookCleanUpJob } from '../../src/webhooks/retention/capture-retention.ts'
import { DMARC_DAYS } from './sizes.ts'

export type Timed = { name: string; seconds: number; detail?: string }

const log = createLog('silent')

/** Creates the files of the attack list, which the publisher of a worker does. */
export function publishList({ db }: Database): Promise<Timed> {
  const ranges: Ranges = {
    is: () => false,
    isExempt: () => false,
    isWellKnown: () => false,
    listProtected: () => [],
    reload: async () => undefined,
    close() {},
  }
  const deps = { db, ranges, log, pageUrl: 'http://bench.test' }
  return timed('create the files of the attack list', () => publish(deps, Date.now()))
}

/** Counts the listed addresses of large tokens, which a worker does. */
export function countListed({ db }: Database): Promise<Timed> {
  const job = abuseJobs({ db }).find(({ name }) => name === 'abuse.token-counts')
  return timed('listed addresses of large tokens', () => runJob(job))
}

/** Runs the nightly deletions once, each with a day’s worth of expired rows. */
export async function runRetention({ db, pool }: Database): Promise<Timed[]> {
  const [retention] = abuseJobs({ db })
  const captures = webhookCleanUpJob({ db, quotas: CAPTURE_QUOTAS, raise: async () => {} })
  const limits = {
    reports: new Date(Date.now() - (DMARC_DAYS - 1.5) * DAY_MS),
    contents: new Date(Date.now() - 28.5 * DAY_MS),
  }
  return [
    await timed('attack reports (drop a partition)', () => runJob(retention)),
    // Without its updates: few standings change in a night.
    await timed('standing of reporters, read', () =>
      withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, listHistories),
    ),
    await timed('captured requests', () => runJob(captures)),
    await timed('DMARC reports and statistics', async () => {
      let deleted = 0
      for (let some = 1; some > 0; deleted += some)
        some = await withdrawReports(db, limits.reports, BATCH_REPORTS)
      return `${deleted} reports`
    }),
    await timed('DMARC files', async () => {
      for (let some = 1; some > 0;) some = await deleteExpiredReports(db, limits, 5_000)
    }),
    await timed('monitoring history', () =>
      deleteExpired(db, { table: 'monitored_event', column: 'at', days: 86 }),
    ),
    await timed('vacuum', async () => {
      const connection = await pool.connect()
      await connection.query('set statement_timeout = 0')
      await connection.query('vacuum')
      connection.release(true)
    }),
  ]
}

async function runJob(job: Job | undefined): Promise<void> {
  const { signal } = new AbortController()
  const context: JobContext = {
    signal,
    attempt: 1,
    log,
    enqueue: async () => true,
    inWorkspace: (_workspaceId, work) => work(signal),
  }
  await job?.run({}, context)
}

/** Backs up the running database to a file, and restores it into another folder. */
export async function backUpAndRestore(dataDir: string): Promise<Timed[]> {
  const folder = mkdtempSync(join(dataDir, '..', 'portreeve-restored-'))
  const file = join(folder, 'large.backup')
  try {
    const backup = await timed('backup', () => backUp({ dataDir, log, file }))
    const { size } = statSync(file)
    const restored = await timed('restore, with the start of PostgreSQL', () =>
      restore({ dataDir: join(folder, 'data'), log, file }),
    )
    return [{ ...backup, detail: `${(size / 1e9).toFixed(2)} GB` }, restored]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function timed(name: string, work: () => Promise<unknown>): Promise<Timed> {
  const begun = performance.now()
  const result = await work()
  const seconds = (performance.now() - begun) / 1000
  return { name, seconds, ...(typeof result === 'string' && { detail: result }) }
}

import { defineJob, type Job } from '../../jobs/job.ts'
import type { Logger } from '../../log.ts'
import {
  NIGHTLY_STATEMENT_TIMEOUT_MS,
  withStatementTimeout,
  type Db,
} from '../../store/database.ts'
import {
  REQUESTS_PER_ENDPOINT,
  RETENTION_DAYS,
  TRIM_INTERVAL_MS,
  MAX_TRIMMED_ROWS,
  VACUUM_AFTER_BYTES,
  VACUUM_AFTER_ROWS,
  VACUUM_AFTER_SHARE,
} from '../limits.ts'
import { trimToQuotas, type QuotaDeps } from './capture-quota.ts'
import {
  deleteBeyond,
  deleteOlder,
  vacuumRequests,
  listOverfull,
  type Deleted,
} from './capture-retention.sql.ts'
import { DAY_MS } from '../../time.ts'

/** Endpoints whose trimming position is remembered. */
const MAX_TRACKED_ENDPOINTS = 10_000

/** Trims the endpoints and workspaces that capture on this instance, in the background. */
export function startTrimming({ log, ...deps }: QuotaDeps & { log: Logger }) {
  const { db } = deps
  const upTo = new Map<string, number>()
  let captured = new Map<string, string>()
  const deleted = { requests: 0, bytes: 0 }
  let running: Promise<void> | undefined

  async function trim(): Promise<void> {
    const batch = captured
    captured = new Map()
    try {
      if (upTo.size > MAX_TRACKED_ENDPOINTS) upTo.clear()
      count(await trimAll(db, [...batch.keys()], upTo))
      count(await trimToQuotas(deps, upTo, { workspaceIds: [...new Set(batch.values())] }))
      await freeDeleted()
    } catch (error) {
      log.warn({ err: error }, 'old requests were not deleted; the next look will')
      for (const [id, workspaceId] of batch) captured.set(id, workspaceId)
    }
  }

  function count(all: Deleted[]): void {
    for (const { deleted: requests, bytes } of all) {
      deleted.requests += requests
      deleted.bytes += bytes
    }
  }

  async function freeDeleted(): Promise<void> {
    if (deleted.requests < VACUUM_AFTER_ROWS && deleted.bytes < VACUUM_AFTER_BYTES) return
    if (await vacuumRequests(db, deleted, VACUUM_AFTER_SHARE))
      Object.assign(deleted, { requests: 0, bytes: 0 })
  }

  const timer = setInterval(() => {
    if (captured.size > 0) running ??= trim().finally(() => (running = undefined))
  }, TRIM_INTERVAL_MS).unref()

  return {
    /** @param endpoints with their workspaces */
    captured(endpoints: Map<string, string>): void {
      for (const [id, workspaceId] of endpoints) captured.set(id, workspaceId)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}

/**
 * Runs every quarter of an hour: trims what a stopped instance left, and deletes expired requests.
 */
export function webhookCleanUpJob(deps: QuotaDeps): Job {
  const { db } = deps
  return defineJob({
    name: 'webhooks.clean-up',
    schedule: '*/15 * * * *',
    async run(_data, { signal, log }) {
      const upTo = new Map<string, number>()
      const beyond = countDeleted(await trimAll(db, await listOverfullSlowly(db), upTo, signal))
      const overQuota = countDeleted(await trimToQuotas(deps, upTo, { signal }))
      const before = new Date(Date.now() - RETENTION_DAYS * DAY_MS)
      const old = await deleteUntilDone(() => deleteOlder(db, before, MAX_TRIMMED_ROWS), signal)
      if (beyond + overQuota + old > 0)
        log.info({ beyond, overQuota, old }, 'deleted expired captured requests')
    },
  })
}

/** @param upTo the number up to which each endpoint is trimmed; updated here */
async function trimAll(
  db: Db,
  ids: string[],
  upTo: Map<string, number>,
  signal?: AbortSignal,
): Promise<Deleted[]> {
  const all: Deleted[] = []
  await deleteUntilDone(async () => {
    const endpoints = ids.map((endpointId) => ({ endpointId, upTo: upTo.get(endpointId) ?? 0 }))
    const trimmed = await deleteBeyond(db, endpoints, REQUESTS_PER_ENDPOINT, MAX_TRIMMED_ROWS)
    for (const { endpointId, upTo: last } of trimmed) upTo.set(endpointId, last)
    all.push(...trimmed)
    return countDeleted(trimmed)
  }, signal)
  return all
}

function countDeleted(all: Deleted[]): number {
  return all.reduce((sum, { deleted }) => sum + deleted, 0)
}

async function deleteUntilDone(
  deleteSome: () => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  for (let all = 0; ;) {
    signal?.throwIfAborted()
    const some = await deleteSome()
    all += some
    if (some < MAX_TRIMMED_ROWS) return all
  }
}

/** Counting every captured request takes longer than the usual statement timeout. */
function listOverfullSlowly(db: Db): Promise<string[]> {
  return withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, (connection) =>
    listOverfull(connection, REQUESTS_PER_ENDPOINT),
  )
}

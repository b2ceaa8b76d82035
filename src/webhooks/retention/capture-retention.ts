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
  MAX_COMPARED_PINNED,
  PINNED_INTERVAL_MS,
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
  type TrimResult,
} from './capture-retention.sql.ts'
import { DAY_MS } from '../../time.ts'

/** Endpoints whose trimming position is remembered. */
const MAX_TRACKED_ENDPOINTS = 10_000

/** Trims the endpoints and workspaces that capture on this instance, in the background. */
export function startTrimming({ log, ...deps }: QuotaDeps & { log: Logger }) {
  const { db } = deps
  const upTo = new Map<string, number>()
  const pinned = new Map<string, Pinned>()
  let captured = new Map<string, string>()
  const deleted = { requests: 0, bytes: 0 }
  let running: Promise<void> | undefined

  async function trim(): Promise<void> {
    const batch = captured
    captured = new Map()
    try {
      if (upTo.size > MAX_TRACKED_ENDPOINTS) upTo.clear()
      if (pinned.size > MAX_TRACKED_ENDPOINTS) pinned.clear()
      count(await trimAll(db, [...batch.keys()], { upTo, pinned }))
      count(await trimPinned(db, { upTo, pinned }))
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
    if (captured.size > 0 || pinned.size > 0)
      running ??= trim().finally(() => (running = undefined))
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
      const positions = { upTo, pinned: new Map<string, Pinned>() }
      const ids = await listOverfullSlowly(db)
      const beyond = countDeleted(await trimAll(db, ids, positions, signal))
      const overQuota = countDeleted(await trimToQuotas(deps, upTo, { signal }))
      const before = new Date(Date.now() - RETENTION_DAYS * DAY_MS)
      const deleteSome = () => deleteOlder(db, before, MAX_TRIMMED_ROWS)
      const old = await untilFewer(MAX_TRIMMED_ROWS, deleteSome, signal)
      if (beyond + overQuota + old > 0)
        log.info({ beyond, overQuota, old }, 'deleted expired captured requests')
    },
  })
}

/** The first request of an endpoint that a delivery kept, and when it is compared again. */
type Pinned = { seq: number; at: number }

/** The numbers up to which endpoints are trimmed, and what was left before them. */
type Positions = { upTo: Map<string, number>; pinned: Map<string, Pinned> }

/** @param positions updated here */
async function trimAll(
  db: Db,
  ids: string[],
  positions: Positions,
  signal?: AbortSignal,
  limit = MAX_TRIMMED_ROWS,
): Promise<Deleted[]> {
  const { upTo } = positions
  const all: Deleted[] = []
  await untilFewer(
    limit,
    async () => {
      const endpoints = ids.map((endpointId) => ({ endpointId, upTo: upTo.get(endpointId) ?? 0 }))
      const trimmed = await deleteBeyond(db, endpoints, REQUESTS_PER_ENDPOINT, limit)
      for (const one of trimmed) advance(positions, one)
      all.push(...trimmed)
      return trimmed.reduce((sum, { compared }) => sum + compared, 0)
    },
    signal,
  )
  return all
}

/**
 * What a delivery keeps is passed, and compared again after a while: otherwise a full queue would be
 * compared with each capture.
 */
function advance({ upTo, pinned }: Positions, trimmed: TrimResult): void {
  const { endpointId, firstPinned } = trimmed
  upTo.set(endpointId, trimmed.upTo)
  if (firstPinned === null) return
  const seq = Math.min(firstPinned, pinned.get(endpointId)?.seq ?? Infinity)
  const at = pinned.get(endpointId)?.at ?? Date.now() + PINNED_INTERVAL_MS
  pinned.set(endpointId, { seq, at })
}

/** Compares again what deliveries kept, a few at once. */
async function trimPinned(db: Db, positions: Positions): Promise<Deleted[]> {
  const { upTo, pinned } = positions
  const all: Deleted[] = []
  for (const [endpointId, { seq, at }] of pinned) {
    if (at > Date.now()) continue
    pinned.delete(endpointId)
    upTo.set(endpointId, seq - 1)
    all.push(...(await trimAll(db, [endpointId], positions, undefined, MAX_COMPARED_PINNED)))
  }
  return all
}

function countDeleted(all: Deleted[]): number {
  return all.reduce((sum, { deleted }) => sum + deleted, 0)
}

/** Repeats work of up to `most` rows until there are fewer. @returns the sum */
async function untilFewer(
  most: number,
  work: () => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  for (let all = 0; ;) {
    signal?.throwIfAborted()
    const some = await work()
    all += some
    if (some < most) return all
  }
}

/** Counting every captured request takes longer than the usual statement timeout. */
function listOverfullSlowly(db: Db): Promise<string[]> {
  return withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, (connection) =>
    listOverfull(connection, REQUESTS_PER_ENDPOINT),
  )
}

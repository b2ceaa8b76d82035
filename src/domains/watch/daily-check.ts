import type { Kysely } from 'kysely'
import { messageOf } from '../../errors.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { defineJob, type InWorkspace, type Job } from '../../jobs/job.ts'
import { WorkspaceDeleted } from '../../jobs/workspace-guard.ts'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { checkDomain } from '../check-domain.ts'
import type { DomainDeps } from '../domain-context.ts'
import {
  CHECK_BATCH,
  CHECK_CLAIMS_FOR_MS,
  CHECK_LEASE_SECONDS,
  CHECK_RUN_SECONDS,
  FAILED_CHECK_RETRY_MS,
  PARALLEL_CHECKS,
} from '../limits.ts'
import type { DomainReport } from '../shapes.ts'
import { recordCheck, type Expiry } from './record-domain-check.ts'
import { claimDueChecks, postponeCheck, type WatchedDomainRow } from './watched-domains.sql.ts'

export type DailyCheckDeps = {
  db: Kysely<DB>
  /** What a check for this workspace needs. */
  depsOf: (workspaceId: string) => DomainDeps
  log: Logger
  inWorkspace: InWorkspace
}

/**
 * Checks watched domains as a whole, each once a day. Up to two runs share the domains by leases,
 * so an instance that is killed delays its domains by minutes.
 */
export function checkDomainsJob(deps: Omit<DailyCheckDeps, 'log' | 'inWorkspace'>): Job {
  return defineJob({
    name: 'domains.check',
    schedule: '* * * * *',
    concurrency: 2,
    uniqueBy: () => 'all',
    deadline: CHECK_RUN_SECONDS,
    retry: { limit: 0 },
    async run(_data, { signal, log, inWorkspace }) {
      const until = performance.now() + CHECK_CLAIMS_FOR_MS
      const checked = await checkDueDomains({ ...deps, log, inWorkspace }, signal, until)
      if (checked > 0) log.debug({ checked }, 'watched domains checked')
    },
  })
}

/**
 * Checks the domains that are due, a few of each account in turn.
 * @param until time of `performance.now()` after which no further domains are claimed
 * @returns how many domains were checked
 */
export async function checkDueDomains(
  deps: DailyCheckDeps,
  signal: AbortSignal,
  until = Infinity,
): Promise<number> {
  let checked = 0
  while (!signal.aborted && performance.now() < until) {
    const claimed = await claimDueChecks(deps.db, CHECK_BATCH, CHECK_LEASE_SECONDS)
    if (claimed.length === 0) break
    await forEachConcurrently(claimed, PARALLEL_CHECKS, async (row) => {
      if (!signal.aborted) await checkOne(row, deps, signal)
    })
    checked += claimed.length
  }
  return checked
}

/** The failure of one domain must not stop the others: it is checked again in an hour. */
async function checkOne(
  { id, workspaceId, domain }: WatchedDomainRow,
  { db, depsOf, log, inWorkspace }: DailyCheckDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await inWorkspace(workspaceId, async (own) => {
      const deps = depsOf(workspaceId)
      const report = await checkDomain(domain, deps, own)
      // An aborted check has lines that are unknown for no reason of the domain.
      own.throwIfAborted()
      await recordCheck(db, workspaceId, report, await expiryOf(report, deps, own))
    })
  } catch (error) {
    if (error instanceof WorkspaceDeleted) return await postponeCheck(db, id, new Date())
    if (signal.aborted) return
    log.warn({ domainId: id }, `a watched domain could not be checked: ${messageOf(error)}`)
    await postponeCheck(db, id, new Date(Date.now() + FAILED_CHECK_RETRY_MS))
  }
}

/** The check has asked the registry; this is its answer from the cache. */
async function expiryOf(
  { registeredDomain }: DomainReport,
  { registrations }: DomainDeps,
  signal: AbortSignal,
): Promise<Expiry | null> {
  const result = await registrations.lookUp(registeredDomain, signal)
  if (result.status !== 'found' || result.registration.expiresAt === null) return null
  const { expiresAt, registrar } = result.registration
  return { expiresAt, registrar }
}

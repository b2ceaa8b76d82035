import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { checkListings } from '../blocklists/check-blocklists.ts'
import { checkCertificates } from '../certificates/check-certificates.ts'
import { HOST_CHECK_DEADLINE_MS, HOST_LEASE_SECONDS } from '../limits.ts'
import { checkRecords } from '../records/check-records.ts'
import type { HostCheckDeps } from './deps.ts'
import { planCheck, type CheckPlan } from './plan-checks.ts'
import { recordCheck } from './record-host-check.ts'
import { claimHost, releaseHost, type ClaimedHost } from './host-checks.sql.ts'

/**
 * Checks a claimed host and records the result: facts, history and alerts.
 * @param plan what to check; by default what is due
 * @param now when it is checked
 */
export async function checkHost(
  host: ClaimedHost,
  deps: HostCheckDeps,
  outer: AbortSignal,
  plan: CheckPlan = planCheck(host, new Date()),
  now?: Date,
): Promise<void> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(HOST_CHECK_DEADLINE_MS)])
  const withCertificatesAndRecords =
    plan.certificatesAndRecords || (plan.recheck && isCertificateOrRecordUnconfirmed(host))
  try {
    const [listings, certificates, records] = await Promise.all([
      checkListings(host, plan, deps, signal),
      withCertificatesAndRecords
        ? checkCertificates(host, deps, signal, now)
        : new Map<number, null>(),
      withCertificatesAndRecords
        ? checkRecords(host, deps.resolver, signal)
        : new Map<string, null>(),
    ])
    // An aborted check looks like blocklists that do not answer: it must not be recorded.
    signal.throwIfAborted()
    await recordCheck(host, { plan, listings, certificates, records }, deps, now)
  } catch (error) {
    // A host whose check fails keeps its lease until it expires: otherwise it would be retried in a
    // loop.
    if (outer.aborted) await releaseHost(deps.db, host).catch(() => {})
    throw error
  }
}

function isCertificateOrRecordUnconfirmed({ facts }: ClaimedHost): boolean {
  return facts.some(({ kind, suspect }) => kind !== 'blacklist' && suspect !== null)
}

/** Milliseconds between two attempts to claim a host that is being checked. */
const CLAIM_RETRY_MS = 200

/**
 * Claims a host as soon as no other check has it; undefined when it was deleted or the signal
 * aborts.
 */
export async function waitForHost(
  db: Kysely<DB>,
  id: string,
  signal: AbortSignal,
): Promise<ClaimedHost | undefined> {
  for (;;) {
    const host = await claimHost(db, id, HOST_LEASE_SECONDS)
    if (host || signal.aborted) return host
    await new Promise((resolve) => setTimeout(resolve, CLAIM_RETRY_MS))
  }
}

import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { lookAtCertificates, type CertificateDeps } from '../certificates/look.ts'
import { LEASE, LOOK_DEADLINE, type Rhythm } from '../limits.ts'
import { lookAtListings, type ListingDeps } from '../listings/look.ts'
import { lookAtRecords } from '../records/look.ts'
import { planOf, type Plan } from './plan.ts'
import { settle } from './settle.ts'
import { claimHost, releaseHost, type ClaimedHost } from './store.ts'

export type LookDeps = ListingDeps &
  CertificateDeps & {
    db: Kysely<DB>
    rhythm: Rhythm
    log: Logger
    /** Hears what was seen of a host, or `failed`. */
    onLook?: ((status: string) => void) | undefined
  }

/**
 * Looks at a host, and writes down what follows from it: facts, history, alerts.
 * @param plan what is due, unless somebody wants to know it all now
 */
export async function lookAtHost(host: ClaimedHost, deps: LookDeps, outer: AbortSignal, plan?: Plan): Promise<void> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(LOOK_DEADLINE)])
  const wanted = plan ?? planOf(host, new Date())
  const side = wanted.side || (wanted.again && hasSideSuspect(host))
  try {
    const [listings, certificates, records] = await Promise.all([
      lookAtListings(host, wanted, deps, signal),
      side ? lookAtCertificates(host, deps, signal) : new Map<number, null>(),
      side ? lookAtRecords(host, deps.resolver, signal) : new Map<string, null>(),
    ])
    // What was cut off in the middle looks like lists that do not answer.
    signal.throwIfAborted()
    await settle(host, { plan: wanted, listings, certificates, records }, deps)
  } catch (error) {
    // A host that fails by itself is not taken up again before its time is over: it would be tried without end.
    if (outer.aborted) await releaseHost(deps.db, host).catch(() => {})
    throw error
  }
}

function hasSideSuspect({ facts }: ClaimedHost): boolean {
  return facts.some(({ kind, suspect }) => kind !== 'blacklist' && suspect !== null)
}

/** Milliseconds between two tries at a host that somebody else looks at. */
const BUSY_PAUSE = 200

/** Takes a host as soon as nobody has it; undefined when it is gone, or held for too long. */
export async function takeHost(db: Kysely<DB>, id: string, signal: AbortSignal): Promise<ClaimedHost | undefined> {
  for (;;) {
    const host = await claimHost(db, id, LEASE)
    if (host || signal.aborted) return host
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE))
  }
}

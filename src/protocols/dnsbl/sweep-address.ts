import { setTimeout as pause } from 'node:timers/promises'
import { reversedLabels } from '../../net/address.ts'
import type { DnsAnswer, DnsFailure } from '../../net/dns.ts'
import { LIST_CATEGORIES, type Blocklist } from './blocklist-catalogue.ts'
import { isUsable, type ZoneHealthTracker, type ZoneHealth } from './zone-health.ts'
import type { Blocklists, Listing } from './blocklists.ts'
import {
  meaningsOf,
  queryName,
  reasonOf,
  interpretAnswer,
  type DnsblResult,
} from './dnsbl-answer.ts'
import { HOUR_SECONDS } from '../../time.ts'

/** Milliseconds after which a sweep ends with partial results. */
const SWEEP_DEADLINE_MS = 8_000

export type SweepOptions = {
  /** Called for each list as soon as it is settled. */
  onListing?: (listing: Listing) => void
  /** These lists instead of all. */
  lists?: readonly Blocklist[]
  /** Query again instead of using a cached answer. Unusable lists are not queried: see `health`. */
  fresh?: boolean
}

/**
 * Asks every list about a public address, all at once; takes as long as the slowest list that
 * answers, 8 seconds at most.
 * @returns one listing a list: listed first, then by category, then in the order of the lists
 */
export async function sweepAddress(
  ip: string,
  blocklists: Blocklists,
  signal: AbortSignal,
  { onListing, lists: wanted = blocklists.lists, fresh = false }: SweepOptions = {},
): Promise<Listing[]> {
  const lists = ip.includes(':') ? wanted.filter((list) => list.ipv6) : wanted
  const stop = AbortSignal.any([signal, AbortSignal.timeout(SWEEP_DEADLINE_MS)])
  const sweep = {
    ip,
    reversed: reversedLabels(ip),
    blocklists,
    fresh,
    stop,
    stopped: untestedAt(stop),
  }
  const listings = lists.map(async (list) => {
    const listing = await lookUp(list, sweep)
    onListing?.(listing)
    return listing
  })
  // Behind the queries themselves, so that the first sweep does not wait in line for its own health
  // check.
  refreshHealth(lists, blocklists.health)
  return (await Promise.all(listings)).toSorted((a, b) => rankOf(a) - rankOf(b))
}

function refreshHealth(lists: readonly Blocklist[], health: ZoneHealthTracker): void {
  const due = lists.filter(health.isDue)
  if (due.length > 0) void health.refresh(due)
}

type Sweep = {
  ip: string
  reversed: string
  blocklists: Blocklists
  fresh: boolean
  stop: AbortSignal
  stopped: Promise<ZoneHealth>
}

async function lookUp(list: Blocklist, sweep: Sweep): Promise<Listing> {
  const { health, cache } = sweep.blocklists
  const known = health.knownHealth(list)
  if (known && !isUsable(known)) return skippedListing(list, known)
  const remembered = sweep.fresh ? undefined : cache.get(cacheKey(sweep.ip, list))
  if (remembered) return remembered
  const answer = await askTwice(list, sweep)
  const checkedAt = Date.now()
  const zone = known ?? (await Promise.race([health.healthOf(list), sweep.stopped]))
  const said = interpretAnswer(answer, list)
  const verdict = applyZoneHealth(said, answer.server, zone, list)
  const reason = verdict.status === 'listed' ? await askReason(list, sweep) : null
  const expiresAt = checkedAt + secondsToKeep(verdict, answer) * 1000
  const listing = listingOf(list, verdict, zone, { reason, checkedAt, expiresAt })
  if (sweep.stop.aborted) return listing
  if (answer.status === 'FAILED' || 'refused' in said) health.markDue(list)
  cache.set(cacheKey(sweep.ip, list), listing)
  return listing
}

/** Pause before a failed query is repeated, because the resolver may have been overloaded. */
const RETRY_PAUSE_MS = 500
/** After silence the resolver has tried more than once already. */
const RETRIED_FAILURES = new Set<DnsFailure>(['SERVFAIL', 'REFUSED', 'NETWORK', 'OTHER'])

async function askTwice(list: Blocklist, sweep: Sweep): Promise<DnsAnswer> {
  const answer = await ask(list, sweep, 'A', sweep.stop)
  if (answer.status !== 'FAILED' || !RETRIED_FAILURES.has(answer.failure)) return answer
  await pause(RETRY_PAUSE_MS, undefined, { signal: sweep.stop }).catch(() => undefined)
  const second = await ask(list, sweep, 'A', sweep.stop)
  return second.status === 'FAILED' && second.failure === 'ABORTED' ? answer : second
}

function ask(
  list: Blocklist,
  { reversed, blocklists }: Sweep,
  type: 'A' | 'TXT',
  signal: AbortSignal,
): Promise<DnsAnswer> {
  return blocklists.resolver.query(queryName(reversed, list, blocklists.keyOf(list)), type, signal)
}

/** Milliseconds a listing waits for its text. */
const REASON_TIMEOUT_MS = 2_500

async function askReason(list: Blocklist, sweep: Sweep): Promise<string | null> {
  const patience = AbortSignal.any([sweep.stop, AbortSignal.timeout(REASON_TIMEOUT_MS)])
  return reasonOf(await ask(list, sweep, 'TXT', patience), sweep.blocklists.keyOf(list))
}

/**
 * Adjusts a result to the health of its blocklist. Never turns anything into a listing or into
 * “clean”.
 */
function applyZoneHealth(
  verdict: DnsblResult,
  server: string | null,
  zone: ZoneHealth,
  list: Blocklist,
): DnsblResult {
  if (verdict.status === 'unknown') return verdict
  const doubt = (detail: string): DnsblResult => ({
    status: 'unknown',
    codes: verdict.codes,
    detail,
  })
  if (!isUsable(zone)) return doubt(zone.detail ?? UNPROVEN)
  // “Not listed” is also the answer of a blocklist that moved or rejects queries, and of a resolver
  // that falsifies answers.
  if (verdict.status === 'clean' && list.test.entry !== false && zone.provenBy !== server)
    return doubt(UNPROVEN)
  return verdict
}

const UNPROVEN =
  'Answered “not listed” without returning its test entry through the same resolver, so the answer is not reliable.'

function untestedAt(stop: AbortSignal): Promise<ZoneHealth> {
  const untested: ZoneHealth = {
    state: 'failing',
    detail: 'The check ended before the list was tested.',
    provenBy: null,
  }
  const { promise, resolve } = Promise.withResolvers<ZoneHealth>()
  stop.addEventListener('abort', () => resolve(untested), { once: true })
  if (stop.aborted) resolve(untested)
  return promise
}

const CLEAN_SECONDS = HOUR_SECONDS
const UNKNOWN_SECONDS = 30

function secondsToKeep(verdict: DnsblResult, answer: DnsAnswer): number {
  if (verdict.status === 'unknown' || answer.status === 'FAILED') return UNKNOWN_SECONDS
  return verdict.status === 'clean' ? Math.min(answer.ttl, CLEAN_SECONDS) : answer.ttl
}

type Circumstances = Pick<Listing, 'reason' | 'checkedAt' | 'expiresAt'>

function listingOf(
  list: Blocklist,
  verdict: DnsblResult,
  zone: ZoneHealth,
  circumstances: Circumstances,
): Listing {
  const { status, codes } = verdict
  const detail = verdict.status === 'unknown' ? verdict.detail : zone.detail
  return {
    list,
    status,
    codes,
    meanings: meaningsOf(codes, list),
    detail,
    health: zone.state,
    ...circumstances,
  }
}

/** The listing of a list that is known to be no use now: it is not even asked. */
function skippedListing(list: Blocklist, { state, detail }: ZoneHealth): Listing {
  const now = Date.now()
  return { ...UNKNOWN_RESULT, list, detail, health: state, checkedAt: now, expiresAt: now }
}

const UNKNOWN_RESULT = { status: 'unknown' as const, codes: [], meanings: [], reason: null }

function cacheKey(ip: string, list: Blocklist): string {
  return `${ip} ${list.zone}`
}

/** Sorts listings first, then by category; within a category, unknown results before clean ones. */
function rankOf({ status, list }: Listing): number {
  const statusRank = status === 'listed' ? 0 : status === 'unknown' ? 1 : 2
  return (status === 'listed' ? 0 : 100) + LIST_CATEGORIES.indexOf(list.category) * 10 + statusRank
}

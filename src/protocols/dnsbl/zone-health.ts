import type { DnsAnswer } from '../../net/dns.ts'
import type { Blocklist } from './blocklist-catalogue.ts'
import { hasEntry, isRewritten, interpretAnswer } from './dnsbl-answer.ts'
import { MINUTE_MS } from '../../time.ts'

/**
 * The reliability of a blocklist, found by querying its test entries (RFC 5782, 5). `healthy`:
 * lists 127.0.0.2 and not 127.0.0.1. `no-test-entry`: answers, but cannot prove that it would list.
 * `refusing`: rejects this resolver. `failing`: gave no usable answer last time. `dead`: three
 * times in a row. `wildcard`: lists everything, or gives answers that no blocklist gives.
 */
export type HealthState = 'healthy' | 'no-test-entry' | 'refusing' | 'failing' | 'dead' | 'wildcard'

export type ZoneHealth = {
  state: HealthState
  /** The reason why it is not healthy, or a peculiarity, as a sentence. */
  detail: string | null
  /** `address:port` of the resolver through which the test entry was seen. */
  provenBy: string | null
}

/** Whether results of this blocklist can be trusted. */
export function isUsable(health: ZoneHealth): boolean {
  return health.state === 'healthy' || health.state === 'no-test-entry'
}

/** Asks a list's zone for an address. Never throws. */
export type QueryZone = (list: Blocklist, ip: string, signal: AbortSignal) => Promise<DnsAnswer>

/** Documentation addresses (RFC 5737), which a blocklist has no reason to list. */
const CONTROL_ADDRESSES = ['192.0.2.1', '203.0.113.1']

/** One round of queries to one list. */
export async function probeZone(
  list: Blocklist,
  ask: QueryZone,
  signal: AbortSignal,
): Promise<ZoneHealth> {
  const [entry, control] = await Promise.all([
    ask(list, '127.0.0.2', signal),
    ask(list, '127.0.0.1', signal),
  ])
  const bad =
    unusableHealth(entry, list) ?? (isRewritten(control) ? unusableHealth(control, list) : null)
  if (bad) return bad
  if (isClean(control, list)) return withEntry(entry, list, null)
  const opinions = await Promise.all(CONTROL_ADDRESSES.map((ip) => ask(list, ip, signal)))
  if (opinions.some((answer) => isClean(answer, list)))
    return withEntry(entry, list, caveatOf(control, list))
  const obstacles = [control, ...opinions].map((answer) => unusableHealth(answer, list))
  return (
    obstacles.find((found) => found !== null) ?? {
      state: 'wildcard',
      detail: 'Lists every address.',
      provenBy: null,
    }
  )
}

function isClean(answer: DnsAnswer, list: Blocklist): boolean {
  return interpretAnswer(answer, list).status === 'clean'
}

function caveatOf(control: DnsAnswer, list: Blocklist): string | null {
  return interpretAnswer(control, list).codes.length > 0
    ? 'Lists 127.0.0.1, which must not be listed (RFC 5782).'
    : null
}

function withEntry(entry: DnsAnswer, list: Blocklist, caveat: string | null): ZoneHealth {
  if (hasEntry(entry, list)) return { state: 'healthy', detail: caveat, provenBy: entry.server }
  const detail = 'Has no test entry for 127.0.0.2, so “not listed” is not reliable.'
  return {
    state: 'no-test-entry',
    detail: list.test.entry === false ? null : detail,
    provenBy: null,
  }
}

/**
 * Explains why the answer is worthless, or null when it distinguishes listed from unlisted
 * addresses.
 */
function unusableHealth(answer: DnsAnswer, list: Blocklist): ZoneHealth | null {
  const verdict = interpretAnswer(answer, list)
  if (verdict.status !== 'unknown' || hasEntry(answer, list)) return null
  const state = isRewritten(answer) ? 'wildcard' : verdict.refused ? 'refusing' : 'failing'
  return { state, detail: verdict.detail, provenBy: null }
}

const HEALTHY_FOR_MS = 45 * MINUTE_MS
const REFUSING_FOR_MS = 10 * MINUTE_MS
const QUARANTINE_MS = 60 * MINUTE_MS
/** Pauses after the first and second failed round; after the third the list counts as dead. */
const FAILING_FOR_MS = [MINUTE_MS, 5 * MINUTE_MS]

/** The cached health of a zone between rounds. `due` is when it must be queried again. */
type ZoneRecord = { health: ZoneHealth; due: number; badRounds: number; goodRounds: number }

const UNTESTED: ZoneRecord = {
  health: { state: 'failing', detail: 'Has not been tested yet.', provenBy: null },
  due: 0,
  badRounds: 0,
  goodRounds: 0,
}

/**
 * Updates the cache after a round.
 * @param blameless so many zones failed together that the resolver is at fault
 */
function nextRecord(
  before: ZoneRecord,
  found: ZoneHealth,
  blameless: boolean,
  now: number,
): ZoneRecord {
  const quarantined = isQuarantined(before.health)
  const record = { health: found, badRounds: 0, goodRounds: 0 }
  if (blameless) {
    return {
      ...before,
      health: quarantined ? before.health : { ...found, state: 'failing' },
      due: now + MINUTE_MS,
    }
  }
  if (isUsable(found)) {
    // Out of quarantine only after two good rounds: dying lists come and go.
    if (quarantined && before.goodRounds === 0)
      return { ...before, goodRounds: 1, due: now + QUARANTINE_MS }
    return { ...record, due: now + HEALTHY_FOR_MS }
  }
  if (found.state === 'refusing') return { ...record, due: now + REFUSING_FOR_MS }
  const badRounds = before.badRounds + 1
  const pause = FAILING_FOR_MS[before.badRounds]
  if (found.state === 'failing' && !quarantined && pause)
    return { ...record, badRounds, due: now + pause }
  const state = found.state === 'wildcard' ? 'wildcard' : 'dead'
  return { ...record, health: { ...found, state }, badRounds, due: now + QUARANTINE_MS }
}

function isQuarantined(health: ZoneHealth): boolean {
  return health.state === 'dead' || health.state === 'wildcard'
}

/** With fewer zones, a broken resolver cannot be distinguished from broken blocklists. */
const MIN_MASS_FAILURES = 3
/**
 * Milliseconds after which a round ends with partial results, before the sweep that waits for it.
 */
const ROUND_DEADLINE_MS = 7_000

export type ZoneHealthTracker = {
  isDue: (list: Blocklist) => boolean
  /** After a failed query: the zone’s health must be checked before its next answer counts. */
  markDue: (list: Blocklist) => void
  /** Checks these zones again, as one round. Zones in progress are not queried twice. */
  refresh: (lists: readonly Blocklist[]) => Promise<void>
  /**
   * The cached health, or null when the zone has to be checked first. A quarantined zone stays
   * cached while it is checked.
   */
  knownHealth: (list: Blocklist) => ZoneHealth | null
  /** The health after the zone’s present round. */
  healthOf: (list: Blocklist) => Promise<ZoneHealth>
}

/**
 * Remembers the health of zones.
 * @param zoneCount how many zones there are: when more than half fail in one round it is the
 *   resolver's fault
 */
export function createZoneHealthTracker(
  zoneCount: number,
  ask: QueryZone,
  now: () => number = () => performance.now(),
): ZoneHealthTracker {
  const records = new Map<string, ZoneRecord>()
  const asking = new Map<string, Promise<ZoneHealth>>()
  const recordOf = (list: Blocklist) => records.get(list.zone) ?? UNTESTED
  const isDue = (list: Blocklist) => recordOf(list).due <= now()

  function knownHealth(list: Blocklist): ZoneHealth | null {
    const { health } = recordOf(list)
    // A sweep does not wait for the dead: their rounds go on beside it.
    return isDue(list) && !isQuarantined(health) ? null : health
  }

  async function healthOf(list: Blocklist): Promise<ZoneHealth> {
    return asking.get(list.zone) ?? recordOf(list).health
  }

  function markDue(list: Blocklist): void {
    const record = records.get(list.zone)
    if (record && isUsable(record.health)) records.set(list.zone, { ...record, due: 0 })
  }

  async function refresh(lists: readonly Blocklist[]): Promise<void> {
    const fresh = lists.filter((list) => !asking.has(list.zone))
    const signal = AbortSignal.timeout(ROUND_DEADLINE_MS)
    const probes = fresh.map((list) => probeZone(list, ask, signal))
    const ended = Promise.all(probes).then((found) => endRound(fresh, found))
    fresh.forEach((list, index) =>
      asking.set(list.zone, believed(list, probes[index] as Promise<ZoneHealth>, ended)),
    )
    await Promise.all(lists.map(async (list) => asking.get(list.zone)))
    await ended
  }

  /** A good finding counts at once, a bad one only when the round has shown whose fault it is. */
  async function believed(
    list: Blocklist,
    probe: Promise<ZoneHealth>,
    ended: Promise<void>,
  ): Promise<ZoneHealth> {
    const found = await probe
    if (found.state === 'healthy' && !isQuarantined(recordOf(list).health)) return found
    await ended
    return recordOf(list).health
  }

  function endRound(lists: Blocklist[], found: ZoneHealth[]): void {
    const failed = found.map((health, index) => isFailure(health, lists[index] as Blocklist))
    const mass = failed.filter(Boolean).length > Math.max(zoneCount / 2, MIN_MASS_FAILURES)
    lists.forEach((list, index) => {
      const blameless = mass && failed[index] === true
      records.set(
        list.zone,
        nextRecord(recordOf(list), found[index] as ZoneHealth, blameless, now()),
      )
      asking.delete(list.zone)
    })
  }

  return { isDue, markDue, refresh, knownHealth, healthOf }
}

function isFailure(health: ZoneHealth, list: Blocklist): boolean {
  return health.state === 'no-test-entry' ? list.test.entry !== false : health.state !== 'healthy'
}

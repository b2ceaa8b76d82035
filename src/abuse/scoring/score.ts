import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts'

/**
 * The weight of a network: `mute` when it reports itself or is listed, `sensor` for the operator’s
 * own.
 */
export type Standing = 'mute' | 'new' | 'established' | 'trusted' | 'sensor'
export type State = 'none' | 'observed' | 'watchlist' | 'listed' | 'delisted' | 'whitelisted'
export type Confidence = 'none' | 'low' | 'medium' | 'high' | 'very-high'

/**
 * The observations of one address at one service by one network. Times are milliseconds since 1970.
 */
export type Evidence = {
  /** The reporting network, and the origin that counts as independent of others. */
  network: string
  origin: string
  service: string
  /** The highest standing that the network had in any report. */
  standing: Standing
  /** Events counted before the window that began at `at`, and the part that the window adds. */
  base: number
  more: number
  at: number
  first: number
  /** When the last report was counted, and the number of counted reports. */
  countedAt: number
  reports: number
  /** All events it reported, for display. */
  events: number
  port: number | null
}

export type Sighting = Pick<Evidence, 'network' | 'origin' | 'service' | 'standing' | 'port'> & {
  count: number
}

/** The properties of a service that the score needs. */
export type Traits = { severity: number; category: string; spoofable: boolean }
export type TraitsOf = (service: string) => Traits

export type Circumstances = {
  /** Many people are behind the address. */
  shared: boolean
  /** An appeal was granted a short time ago. */
  probation: boolean
  /** There are too few established reporters to require them. */
  bootstrap: boolean
  /** A large resolver or root server, which only the operator may list. */
  wellKnown: boolean
  /** An administrator has confirmed the listing. */
  confirmed: boolean
}

export type Assessment = {
  score: number
  state: State
  confidence: Confidence
  /**
   * The evidence suffices, but only an administrator can tell whether the reporters are
   * independent.
   */
  awaiting: boolean
  /** Milliseconds since 1970 before which time alone changes nothing; null when it never does. */
  dueAt: number | null
}

/** Repeated reports of a network within this time are one report. */
export const WINDOW_MS = 10 * MINUTE_MS
/** Milliseconds without a report after which an address is deleted. */
export const FORGET_AFTER_MS = 30 * DAY_MS
/** Maximum evidence stored per address. With this much, the score is certain. */
export const MAX_EVIDENCE = 200

const WEIGHT: Record<Standing, number> = {
  mute: 0,
  new: 0.3,
  established: 0.7,
  trusted: 1,
  sensor: 1.2,
}
const RANK: Standing[] = ['mute', 'new', 'established', 'trusted', 'sensor']

/** A network without a history cannot claim the most severe attack. */
const MOST_EVENTS = { weak: 32, strong: 255 }
const MOST_SEVERITY = { weak: 6, strong: 10, spoofable: 3 }

/** Newcomers of one autonomous system together stay below the threshold of a listing. */
const MOST_OF_ORIGIN = { weak: 0.35, strong: 1 }

const HALF_LIFE: Record<string, number> = {
  scan: 3 * DAY_MS,
  spam: 5 * DAY_MS,
  ddos: 2 * DAY_MS,
  malware: 14 * DAY_MS,
}
const USUAL_HALF_LIFE_MS = 7 * DAY_MS
const SHARED_HALF_LIFE_MS = DAY_MS

/**
 * Scores at which a state begins and ends, and days after the last report when a listing ends in
 * any case.
 */
const WATCH = { enter: 20, leave: 12 }
const LIST = { enter: 60, leave: 35, longest: 7 * DAY_MS }
/**
 * Milliseconds after the last report when every listing has ended, and nothing waits for a
 * confirmation any more.
 */
export const LONGEST_LISTING_MS = LIST.longest
/**
 * Machines rented at six providers for an hour can fake such a listing, so it must end soon after
 * them.
 */
const BOOTSTRAP_LONGEST_MS = DAY_MS
/** Origins that must agree while no network is established, and beside a single established one. */
const MIN_BOOTSTRAP_ORIGINS = 6
const MIN_ORIGINS_BESIDE_ESTABLISHED = 4
/** How many times the longest listing one origin alone can prolong it. */
const SINGLE_ORIGIN_FACTOR = 2
const SHARED_LIST = { enter: 80, longest: 3 * DAY_MS }
const PROBATION_ENTER = 80

/**
 * The highest score of an address that is not listed, so that a reader of the number alone blocks
 * no unlisted address.
 */
const MAX_UNLISTED_SCORE = 59

/** Strength below which evidence is dropped. */
const MIN_STRENGTH = 0.02

/**
 * The prefix of an origin whose autonomous system is known. If it is unknown, the addresses around
 * the network stand for it, which is only a guess: anyone can rent addresses in many places from
 * one provider.
 */
export const KNOWN_ORIGIN = 'as:'
const isKnown = (origin: string) => origin.startsWith(KNOWN_ORIGIN)

export const isStrong = (standing: Standing) => RANK.indexOf(standing) > RANK.indexOf('new')

/**
 * Adds a sighting to the evidence. In one window the largest count of a network stands for all of
 * them, so that order and repetition change nothing.
 * @param before the evidence so far, which is not changed
 * @param counted whether it adds to the counts that people see
 * @returns the evidence with it
 */
export function absorb(
  before: readonly Evidence[],
  sighting: Sighting,
  {
    now,
    counted,
    shared,
    traitsOf,
  }: { now: number; counted: boolean; shared: boolean; traitsOf: TraitsOf },
): Evidence[] {
  const evidence = withOrigin(before, sighting)
  const index = evidence.findIndex(
    (e) => e.network === sighting.network && e.service === sighting.service,
  )
  const known = evidence[index]
  const { count, ...rest } = sighting
  const entry = known
    ? { ...known, port: sighting.port ?? known.port }
    : { ...rest, ...unseen(now) }
  entry.standing = better(entry.standing, sighting.standing)
  const isFirst = !known || isWindowOver(known, now)
  if (sighting.standing !== 'mute')
    addEvents(entry, sighting, now, halfLifeOf(traitsOf(entry.service), shared))
  if (counted || isFirst) entry.events += count
  if (counted) Object.assign(entry, { countedAt: now, reports: entry.reports + 1 })
  if (known) return evidence.with(index, entry)
  const all = [...evidence, entry]
  return all.length > MAX_EVIDENCE ? withoutFaintest(all, now, shared, traitsOf) : all
}

/**
 * A newer table may assign a network to another system. All its evidence moves, because a network
 * must never count as two independent ones.
 */
function withOrigin(
  evidence: readonly Evidence[],
  { network, origin }: Sighting,
): readonly Evidence[] {
  const isMoved = (entry: Evidence) => entry.network === network && entry.origin !== origin
  return evidence.some(isMoved)
    ? evidence.map((entry) => (isMoved(entry) ? { ...entry, origin } : entry))
    : evidence
}

/** Whether its window has ended, or began in the future: before the clock was set back. */
const isWindowOver = ({ at }: Evidence, now: number) => Math.abs(now - at) >= WINDOW_MS

function addEvents(
  entry: Evidence,
  { standing, count }: Sighting,
  now: number,
  halfLife: number,
): void {
  if (isWindowOver(entry, now)) {
    entry.base = round((entry.base + entry.more) * decay(now - entry.at, halfLife))
    entry.more = 0
    entry.at = now
  }
  const most = MOST_EVENTS[isStrong(standing) ? 'strong' : 'weak']
  // Never less than before: a newcomer of a network does not reduce the count of an established
  // one.
  entry.more = Math.max(entry.more, Math.min(most, entry.base + Math.min(count, most)) - entry.base)
}

function unseen(now: number) {
  return { base: 0, more: 0, at: now, first: now, countedAt: 0, reports: 0, events: 0 }
}

const better = (a: Standing, b: Standing): Standing => (RANK.indexOf(a) < RANK.indexOf(b) ? b : a)
const round = (n: number) => Math.round(n * 1000) / 1000

/** Removed from the origin with the most evidence, so that one origin cannot displace others. */
function withoutFaintest(
  evidence: Evidence[],
  now: number,
  shared: boolean,
  traitsOf: TraitsOf,
): Evidence[] {
  const crowds = Map.groupBy(evidence, (e) => e.origin)
  const [crowd = []] = [...crowds.values()].toSorted((a, b) => b.length - a.length)
  const strength = (e: Evidence) => strengthOf(e, now, shared, traitsOf(e.service))
  const faintest = crowd.reduce((a, b) => (strength(b) < strength(a) ? b : a))
  return evidence.filter((e) => e !== faintest)
}

/**
 * When a report of this service was last counted, from any network; 0 for never, or before the
 * clock was set back.
 */
export function lastCounted(evidence: readonly Evidence[], service: string, now: number): number {
  const counted = evidence.filter((e) => e.service === service && e.countedAt - now < WINDOW_MS)
  return counted.reduce((last, e) => Math.max(last, e.countedAt), 0)
}

/**
 * Computes the score and the listing from the evidence. A pure function of its arguments: see
 * docs/scoring.md.
 */
export function assess(
  state: State,
  evidence: readonly Evidence[],
  circumstances: Circumstances,
  now: number,
  traitsOf: TraitsOf,
): Assessment {
  const last = evidence.length === 0 ? now : Math.max(...evidence.map((e) => e.at))
  const facts = weigh(evidence, circumstances.shared, now, traitsOf)
  const raw = 100 * (1 - Math.exp(-facts.sum / 0.5))
  const next = nextState(state, raw, facts, circumstances, now - last)
  const score = Math.round(10 * (next === 'listed' ? raw : Math.min(raw, MAX_UNLISTED_SCORE))) / 10
  const awaiting =
    next !== 'listed' &&
    next !== 'whitelisted' &&
    isDue(raw, facts, circumstances, now - last, 'awaiting')
  const confidence = confidenceOf(facts)
  return {
    score,
    state: next,
    confidence,
    awaiting,
    dueAt: dueAt(next, facts, circumstances, last, now),
  }
}

/**
 * Computes the score and the listing after evidence was taken back: a listing ends unless what is
 * left would list the address, too.
 */
export function assessRest(
  ...[state, evidence, circumstances, now, traitsOf]: Parameters<typeof assess>
): Assessment {
  const gate = gateOf(weigh(evidence, circumstances.shared, now, traitsOf), circumstances)
  const before = state === 'listed' && !LISTING_GATES.includes(gate) ? 'delisted' : state
  return assess(before, evidence, circumstances, now, traitsOf)
}

type Facts = {
  networks: number
  /** The sum of evidence, E. */
  sum: number
  /** Origins with evidence, and of these with a strong reporter. */
  origins: number
  strong: number
  /** The same for evidence whose sender cannot be spoofed; only this can list an address. */
  solid: Origins
  services: number
  /** Milliseconds from the first report to the last. */
  span: number
  /** Milliseconds since the last report of the second of its latest origins with such evidence. */
  sinceSecondOrigin: number
  shortestHalfLife: number
}

type Origins = {
  all: number
  strong: number
  sensors: number
  /** Origins whose autonomous system is known. */
  known: number
}

function weigh(
  evidence: readonly Evidence[],
  shared: boolean,
  now: number,
  traitsOf: TraitsOf,
): Facts {
  const networks = new Map<string, { origin: string; strengths: number[] }>()
  const [origins, strong, services] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const solid = {
    all: new Set<string>(),
    strong: new Set<string>(),
    sensors: new Set<string>(),
    known: new Set<string>(),
  }
  const solidTimes = new Map<string, number>()
  const strongOrigins = new Set<string>()
  let [first, last, shortestHalfLife] = [Infinity, -Infinity, USUAL_HALF_LIFE_MS]
  for (const entry of evidence) {
    const traits = traitsOf(entry.service)
    const strength = strengthOf(entry, now, shared, traits)
    const place = networks.get(entry.network) ?? { origin: entry.origin, strengths: [] }
    networks.set(entry.network, place)
    place.strengths.push(strength)
    if (isStrong(entry.standing)) strongOrigins.add(entry.origin)
    shortestHalfLife = Math.min(shortestHalfLife, halfLifeOf(traits, shared))
    if (strength < MIN_STRENGTH || now - entry.at > FORGET_AFTER_MS) continue
    origins.add(entry.origin)
    services.add(entry.service)
    if (isStrong(entry.standing)) strong.add(entry.origin)
    if (!traits.spoofable) {
      solid.all.add(entry.origin)
      solidTimes.set(entry.origin, Math.max(solidTimes.get(entry.origin) ?? 0, entry.at))
      if (isKnown(entry.origin)) solid.known.add(entry.origin)
      if (isStrong(entry.standing)) solid.strong.add(entry.origin)
      if (entry.standing === 'sensor') solid.sensors.add(entry.origin)
    }
    first = Math.min(first, entry.first)
    last = Math.max(last, entry.at)
  }
  const [, renewedAt = -Infinity] = [...solidTimes.values()].toSorted((a, b) => b - a)
  return {
    networks: networks.size,
    sum: sumOf(networks.values(), strongOrigins),
    origins: origins.size,
    strong: strong.size,
    solid: {
      all: solid.all.size,
      strong: solid.strong.size,
      sensors: solid.sensors.size,
      known: solid.known.size,
    },
    services: services.size,
    span: Math.max(0, last - first),
    sinceSecondOrigin: now - renewedAt,
    shortestHalfLife,
  }
}

/** Sums up each network’s best service and part of three more, and each origin up to its cap. */
function sumOf(
  networks: Iterable<{ origin: string; strengths: number[] }>,
  strong: Set<string>,
): number {
  const byOrigin = new Map<string, number>()
  for (const { origin, strengths } of networks) {
    const [best = 0, ...others] = strengths.toSorted((a, b) => b - a)
    const strength = best + 0.15 * others.slice(0, 3).reduce((sum, s) => sum + s, 0)
    byOrigin.set(origin, (byOrigin.get(origin) ?? 0) + strength)
  }
  // Added in ascending order, so that the sum does not depend on the order of reports.
  return [...byOrigin]
    .map(([origin, strength]) =>
      Math.min(strength, MOST_OF_ORIGIN[strong.has(origin) ? 'strong' : 'weak']),
    )
    .toSorted((a, b) => a - b)
    .reduce((sum, strength) => sum + strength, 0)
}

function strengthOf(entry: Evidence, now: number, shared: boolean, traits: Traits): number {
  const most = MOST_SEVERITY[isStrong(entry.standing) ? 'strong' : 'weak']
  const severity = Math.min(
    traits.severity,
    most,
    traits.spoofable ? MOST_SEVERITY.spoofable : Infinity,
  )
  const volume = 0.5 + 0.5 * Math.min(1, Math.log2(1 + entry.base + entry.more) / 8)
  return (
    WEIGHT[entry.standing] *
    (severity / 10) *
    volume *
    decay(now - entry.at, halfLifeOf(traits, shared))
  )
}

function halfLifeOf(traits: Traits, shared: boolean): number {
  return shared ? SHARED_HALF_LIFE_MS : (HALF_LIFE[traits.category] ?? USUAL_HALF_LIFE_MS)
}

const decay = (age: number, halfLife: number) => 2 ** (-Math.max(0, age) / halfLife)

/**
 * The grounds on which an address may be listed, whatever its score: established networks, six
 * operators while there are too few established networks, or an administrator. `awaiting` means
 * that six operators reported it, and that only an administrator can decide.
 */
type Gate = 'established' | 'bootstrap' | 'confirmed' | 'awaiting' | 'closed'
/** Those that list an address. */
const LISTING_GATES: readonly Gate[] = ['established', 'bootstrap', 'confirmed']

function gateOf(facts: Facts, { bootstrap, probation, wellKnown, confirmed }: Circumstances): Gate {
  const { solid, span } = facts
  if (solid.all < 2) return 'closed'
  const established = hasEstablished(facts)
  if (wellKnown ? solid.sensors >= 2 : established) return 'established'
  const isYoung = bootstrap && span >= HOUR_MS
  if (!established && !(isYoung && solid.all >= MIN_BOOTSTRAP_ORIGINS)) return 'closed'
  if (confirmed) return 'confirmed'
  // An address whose appeal was accepted once is not listed again by strangers alone.
  return isYoung && solid.known >= MIN_BOOTSTRAP_ORIGINS && !probation && !wellKnown
    ? 'bootstrap'
    : 'awaiting'
}

function hasEstablished({ solid }: Facts): boolean {
  // All unknown origins count as one, because they may be one provider.
  const independent = solid.known + Number(solid.all > solid.known)
  return solid.strong >= 2 || (solid.strong >= 1 && independent >= MIN_ORIGINS_BESIDE_ESTABLISHED)
}

/** Milliseconds after the last report when a listing ends in any case. */
function longestOf(facts: Facts, circumstances: Circumstances): number {
  return Math.min(
    longestOfKind(circumstances),
    isSure(facts, circumstances) ? Infinity : BOOTSTRAP_LONGEST_MS,
  )
}

const longestOfKind = ({ shared }: Circumstances) => (shared ? SHARED_LIST.longest : LIST.longest)

/** Whether more than newcomers support a listing. */
function isSure(facts: Facts, { wellKnown, confirmed }: Circumstances): boolean {
  return confirmed || (wellKnown ? facts.solid.sensors >= 2 : hasEstablished(facts))
}

/** Otherwise a single origin could prolong a listing for ever, after the address is clean. */
function isRecent({ sinceSecondOrigin }: Facts, circumstances: Circumstances): boolean {
  return sinceSecondOrigin < SINGLE_ORIGIN_FACTOR * longestOfKind(circumstances)
}

/** Newcomers do not prolong the listing of a network that many depend on. */
function isOver(facts: Facts, circumstances: Circumstances, raw: number, age: number): boolean {
  const isLate = age >= longestOf(facts, circumstances) || !isRecent(facts, circumstances)
  const mayLast = !circumstances.wellKnown || isSure(facts, circumstances)
  return raw < LIST.leave || isLate || !mayLast
}

function nextState(
  state: State,
  raw: number,
  facts: Facts,
  circumstances: Circumstances,
  age: number,
): State {
  if (state === 'whitelisted') return state
  if (state === 'listed') return isOver(facts, circumstances, raw, age) ? 'delisted' : 'listed'
  if (isDue(raw, facts, circumstances, age, ...LISTING_GATES)) return 'listed'
  if (state === 'delisted') return state
  return raw >= (state === 'watchlist' ? WATCH.leave : WATCH.enter) ? 'watchlist' : 'observed'
}

/**
 * Whether the score is high enough and the reports new enough for the list, and the gate is one of
 * these.
 */
function isDue(
  raw: number,
  facts: Facts,
  circumstances: Circumstances,
  age: number,
  ...gates: Gate[]
): boolean {
  const { shared, probation } = circumstances
  const enter = Math.max(
    LIST.enter,
    shared ? SHARED_LIST.enter : 0,
    probation ? PROBATION_ENTER : 0,
  )
  const gate = gateOf(facts, circumstances)
  // A candidate waits for an administrator as long as it could still be listed.
  const longest = longestOf(
    facts,
    gate === 'awaiting' ? { ...circumstances, confirmed: true } : circumstances,
  )
  const isNew = age < longest && isRecent(facts, circumstances)
  return raw >= enter && isNew && gates.includes(gate)
}

function confidenceOf({ origins, strong, services, span, networks }: Facts): Confidence {
  if (networks === 0) return 'none'
  if (origins >= 6 && strong >= 2 && (services >= 2 || span >= DAY_MS)) return 'very-high'
  if (origins >= 3 && strong >= 1) return 'high'
  return origins >= 2 ? 'medium' : 'low'
}

/**
 * No evidence decays faster than its fastest part. This bound is cheap, and is computed again then.
 */
function dueAt(
  state: State,
  facts: Facts,
  circumstances: Circumstances,
  last: number,
  now: number,
): number | null {
  // Once a day, because a time that changes with every report would cost an index entry each.
  if (state === 'watchlist') return Math.ceil((now + DAY_MS) / DAY_MS) * DAY_MS
  if (state !== 'listed') return null
  // At least hourly, for the score that the export shows.
  const hour = Math.ceil(now / HOUR_MS) * HOUR_MS
  const floor = -0.5 * Math.log(1 - LIST.leave / 100)
  const faded = now + facts.shortestHalfLife * Math.log2(Math.max(1, facts.sum / floor))
  return Math.min(faded, last + longestOf(facts, circumstances), hour)
}

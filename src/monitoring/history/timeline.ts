import { ipOf, zoneOf } from '../blocklists/evaluate-blocklists.ts'
import type { FactRow } from '../facts/host-facts.sql.ts'
import { MAX_TIMELINE_EVENTS, MAX_TIMELINE_LISTS, MAX_TIMELINE_PERIODS } from '../limits.ts'
import type { EventRow, Period, PeriodRow } from './host-history.sql.ts'

/** A span of time with one state; the spans of a row do not overlap and are in order. */
export type Span = { state: Period; from: Date; to: Date }

export type ListTimeline = { name: string; dnsbl: string; spans: Span[] }

/** The known facts about a host from which its timeline is derived. */
export type TimelineSource = {
  events: EventRow[]
  periods: PeriodRow[]
  facts: FactRow[]
  since: Date
  now: Date
}

/**
 * Derives a timeline: the periods of the host, a row for each blocklist that listed it, and the
 * changes of certificates and records. What the stored history does not show is unknown.
 */
export function buildTimeline({ events, periods, facts, since, now }: TimelineSource) {
  const knownFrom = events.length < MAX_TIMELINE_EVENTS ? since : (events[0]?.at ?? since)
  const changes = events.filter(({ kind, dnsbl }) => kind === 'blacklist' && dnsbl !== null)
  const listed = facts.filter(({ kind, state }) => kind === 'blacklist' && state === 'listed')
  const zones = new Set([...changes.map(({ dnsbl }) => dnsbl ?? ''), ...listed.map(zoneOf)])
  const unknown = spansOf(periods, since).filter(({ state }) => state === 'unknown')
  const lists = [...zones].map((zone): ListTimeline => {
    const own = changes.filter(({ dnsbl }) => dnsbl === zone)
    const current = listed.filter((fact) => zoneOf(fact) === zone)
    const listings = listedSpans(own, current, knownFrom, now)
    const before = knownFrom > since ? [unknownSpan(since, knownFrom)] : []
    return { name: zone, dnsbl: zone, spans: mergeSpans(listings, [...before, ...unknown]) }
  })
  const marks = events
    .filter(({ kind, baseline }) => kind !== 'blacklist' && !baseline)
    .map(({ at, kind, name, fromState, toState }) => ({
      at,
      kind: kind as 'certificate' | 'dns',
      name,
      from: fromState,
      to: toState,
    }))
  return {
    periods: spansOf(periods, since),
    lists: lists
      .filter(({ spans }) => spans.some(({ state }) => state === 'listed'))
      .toSorted((one, other) => lastListed(other) - lastListed(one))
      .slice(0, MAX_TIMELINE_LISTS),
    marks,
  }
}

/** The periods of a host. If not all are stored here, the time before them is unknown. */
export function spansOf(periods: PeriodRow[], since: Date): Span[] {
  const [first] = periods
  const isCut = periods.length >= MAX_TIMELINE_PERIODS && first !== undefined && first.from > since
  const spans = periods.map(({ state, from, to }) => ({ state, from, to }))
  return isCut ? [unknownSpan(since, first.from), ...spans] : spans
}

/**
 * When a blocklist listed the host, over all its addresses. A listing whose end was not recorded
 * (its address is gone, or the list is ignored since) is known for an instant alone.
 */
function listedSpans(events: EventRow[], facts: FactRow[], since: Date, now: Date): Span[] {
  const ips = new Set([...events.map(({ ip }) => ip ?? ''), ...facts.map(ipOf)])
  const spans = [...ips].flatMap((ip) => {
    const fact = facts.find((one) => ipOf(one) === ip)
    const own = events.filter((event) => (event.ip ?? '') === ip)
    return listedSpansOfAddress(own, fact, since, now)
  })
  return spans
}

function listedSpansOfAddress(
  events: EventRow[],
  fact: FactRow | undefined,
  since: Date,
  now: Date,
): Span[] {
  const spans: Span[] = []
  let from: Date | null = events[0]?.fromState === 'listed' ? since : null
  for (const { at, toState } of events) {
    if (from !== null && toState !== 'listed') spans.push({ state: 'listed', from, to: at })
    from = toState === 'listed' ? (from ?? at) : null
  }
  if (fact) return [...spans, { state: 'listed', from: from ?? later(fact.since, since), to: now }]
  if (from === null) return spans
  return [...spans, { state: 'listed', from, to: from }, unknownSpan(from, now)]
}

const later = (one: Date, other: Date) => (one > other ? one : other)

const unknownSpan = (from: Date, to: Date): Span => ({ state: 'unknown', from, to })

/** Joins spans that may overlap: listed outweighs unknown. The time between them is left out. */
function mergeSpans(one: Span[], other: Span[]): Span[] {
  const all = [...one, ...other]
  const listed = union(all.filter(({ state }) => state === 'listed'))
  const unknown = union(all.filter(({ state }) => state === 'unknown'))
  const rest = unknown.flatMap((span) => subtract(span, listed))
  return [...listed, ...rest].toSorted((a, b) => a.from.getTime() - b.from.getTime())
}

function union(spans: Span[]): Span[] {
  const joined: Span[] = []
  for (const span of spans.toSorted((a, b) => a.from.getTime() - b.from.getTime())) {
    const last = joined.at(-1)
    if (last && span.from <= last.to) last.to = later(last.to, span.to)
    else joined.push({ ...span })
  }
  return joined
}

function subtract(span: Span, others: Span[]): Span[] {
  let rest = [span]
  for (const { from, to } of others) {
    rest = rest.flatMap((part) => {
      if (to <= part.from || from >= part.to) return [part]
      const before = { ...part, to: from }
      const after = { ...part, from: to }
      return [before, after].filter((one) => one.to > one.from)
    })
  }
  return rest
}

function lastListed({ spans }: ListTimeline): number {
  return spans.findLast(({ state }) => state === 'listed')?.to.getTime() ?? 0
}

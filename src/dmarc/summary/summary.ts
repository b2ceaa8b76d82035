import { Fault } from '../../errors.ts'
import type { AutonomousSystem } from '../../protocols/networks/asn-table.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import type { Db } from '../../store/database.ts'
import type { DomainRow } from '../domains/store.ts'
import { noCounts, type Counts } from '../statistics/tally.ts'
import { SUMMARY_DAYS, SUMMARY_REPORTERS, SUMMARY_SOURCES } from '../limits.ts'
import { SOURCE_GROUPS } from '../shapes.ts'
import { readinessOf } from './readiness.ts'
import {
  findPublishedPolicy,
  listSelectors,
  sumByDay,
  sumByReporter,
  sumBySource,
  type DayRow,
  type GroupRow,
  type Range,
  type SourceRow,
} from './store.ts'

/** What is known of an address's network without asking anybody; null: nothing. */
export type FindAsn = (address: string) => AutonomousSystem | null

const DAY = 24 * 3_600_000
const DEFAULT_DAYS = 30
const MOST_SELECTORS = 100

/**
 * The days of a question: both ends are in it. A time at midnight ends the day before it.
 * @throws Fault `invalid_request`
 */
export function rangeOf({ from, to }: { from?: string | undefined; to?: string | undefined }, now: Date): Range {
  const last = to === undefined ? now.getTime() : isDay(to) ? Date.parse(to) : Date.parse(to) - 1
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY : Date.parse(from)
  const range = { from: dayOf(first), to: dayOf(last) }
  const days = daysIn(range)
  if (days >= 1 && days <= SUMMARY_DAYS) return range
  const message = days < 1 ? 'must not be after to' : `must not be more than ${SUMMARY_DAYS} days before to`
  throw new Fault('invalid_request', `from ${message}.`, { details: [{ path: 'from', message }] })
}

function isDay(text: string): boolean {
  return text.length === 'YYYY-MM-DD'.length
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function daysIn({ from, to }: Range): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY) + 1
}

/** Who sends in the domain's name, and how it fares: counted from what receivers evaluated, never from bare results. */
export async function summarize(db: Db, { id, domain }: DomainRow, range: Range, findAsn: FindAsn) {
  const [days, reporters, { sources, groups }, selectors, published] = await Promise.all([
    sumByDay(db, id, range),
    sumByReporter(db, id, range, SUMMARY_REPORTERS),
    sumBySource(db, id, range, SUMMARY_SOURCES),
    listSelectors(db, id, MOST_SELECTORS),
    findPublishedPolicy(db, id),
  ])
  const totals = totalsOf(days)
  const { messages, aligned, reports } = totals
  return {
    domain,
    ...range,
    totals: { reports, ...shown(totals), passRate: messages === 0 ? null : aligned / messages },
    days: everyDay(range, days),
    sources: sources.map((source) => shownSource(source, findAsn)),
    sourceCount: groups.reduce((sum, group) => sum + group.sources, 0),
    groups: shownGroups(groups),
    reporters: reporters.map(({ reporter, lastDay, ...rest }) => {
      return { orgName: reporter, reports: rest.reports, ...shown(rest), lastDay }
    }),
    selectors: selectors.map(({ signer, passed, ...rest }) => ({ domain: signer, ...rest, pass: passed })),
    readiness: readinessOf({
      messages,
      aligned,
      days: daysIn(range),
      daysWithMail: days.filter((day) => day.messages > 0).length,
      published,
      sources,
      groups,
    }),
  }
}

function shown({ messages, aligned, dkim, spf, forwarded, quarantined, rejected }: Counts) {
  return {
    messages,
    pass: aligned,
    fail: messages - aligned,
    dkimAligned: dkim,
    spfAligned: spf,
    forwarded,
    disposition: { none: messages - quarantined - rejected, quarantine: quarantined, reject: rejected },
  }
}

function totalsOf(days: DayRow[]): Counts & { reports: number } {
  const totals = { reports: 0, ...noCounts() }
  for (const day of days) for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += day[key]
  return totals
}

/** Every day of the range, those without mail too. */
export function everyDay(range: Range, rows: DayRow[]) {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  return Array.from({ length: daysIn(range) }, (_, index) => {
    const day = dayOf(Date.parse(range.from) + index * DAY)
    return { day, ...shown(byDay.get(day) ?? noCounts()) }
  })
}

/** A source as the outside sees it, with what is known of its network. */
export function shownSource(
  { source, group, firstDay, lastDay, reverseName, confirmed, ...counts }: SourceRow,
  findAsn: FindAsn,
) {
  const network = findAsn(source)
  return {
    sourceIp: source,
    reverseName,
    reverseConfirmed: confirmed,
    organizationalDomain: reverseName && registeredDomain(reverseName),
    asn: network?.number ?? null,
    asName: network?.name || null,
    group,
    ...shown(counts),
    firstDay,
    lastDay,
  }
}

function shownGroups(rows: GroupRow[]) {
  const of = (group: string) => rows.find((row) => row.group === group) ?? { sources: 0, messages: 0 }
  return Object.fromEntries(
    SOURCE_GROUPS.map((group) => [group, { sources: of(group).sources, messages: of(group).messages }]),
  )
}

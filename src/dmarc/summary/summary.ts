import { Fault } from '../../errors.ts'
import type { AutonomousSystem } from '../../protocols/networks/asn-table.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import type { Db } from '../../store/database.ts'
import type { DomainRow } from '../domains/store.ts'
import { zeroCounts, type Counts } from '../statistics/tally.ts'
import { MAX_SUMMARY_DAYS, MAX_SUMMARY_REPORTERS, MAX_SUMMARY_SOURCES } from '../limits.ts'
import { SOURCE_GROUPS } from '../shapes.ts'
import { groupSenders, nameSender } from '../senders/senders.ts'
import { listMarks } from '../senders/store.ts'
import { affectedSources, evaluateReadiness } from './readiness.ts'
import {
  findPublishedPolicy,
  listSelectors,
  sumByDay,
  sumByReporter,
  sumBySource,
  type DayRow,
  type GroupRow,
  type DayRange,
  type SourceRow,
} from './store.ts'
import { DAY_MS } from '../../time.ts'

/** Finds the autonomous system of an address in a local table; null if unknown. */
export type FindAsn = (address: string) => AutonomousSystem | null

const DEFAULT_DAYS = 30
const MAX_SUMMARY_SELECTORS = 100

/**
 * Parses a range of days, both inclusive. An end at midnight means the day before.
 * @throws Fault `invalid_request`
 */
export function parseRange(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  now: Date,
): DayRange {
  const last = to === undefined ? now.getTime() : isDay(to) ? Date.parse(to) : Date.parse(to) - 1
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from)
  const range = { from: dayOf(first), to: dayOf(last) }
  const days = daysIn(range)
  if (days >= 1 && days <= MAX_SUMMARY_DAYS) return range
  const message =
    days < 1 ? 'must not be after to' : `must not be more than ${MAX_SUMMARY_DAYS} days before to`
  throw new Fault('invalid_request', `from ${message}.`, { details: [{ path: 'from', message }] })
}

function isDay(text: string): boolean {
  return text.length === 'YYYY-MM-DD'.length
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Days of a range, including both ends. */
export function daysIn({ from, to }: DayRange): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
}

/**
 * Summarizes a domain's sources and their results, as receivers evaluated them; bare SPF and DKIM
 * results do not count.
 */
export async function summarize(
  db: Db,
  { id, domain }: DomainRow,
  range: DayRange,
  findAsn: FindAsn,
) {
  const [days, reporters, { sources, groups }, selectors, published, marks] = await Promise.all([
    sumByDay(db, id, range),
    sumByReporter(db, id, range, MAX_SUMMARY_REPORTERS),
    sumBySource(db, id, range, MAX_SUMMARY_SOURCES),
    listSelectors(db, id, MAX_SUMMARY_SELECTORS),
    findPublishedPolicy(db, id),
    listMarks(db, id),
  ])
  const senders = groupSenders(domain, sources, marks)
  const totals = totalsOf(days)
  const { messages, aligned, reports } = totals
  return {
    domain,
    ...range,
    totals: { reports, ...shown(totals), passRate: messages === 0 ? null : aligned / messages },
    days: fillDays(range, days),
    sources: sources.map((source) => presentSource(domain, source, findAsn)),
    senders,
    sourceCount: groups.reduce((sum, group) => sum + group.sources, 0),
    groups: shownGroups(groups),
    reporters: reporters.map(({ reporter, lastDay, ...rest }) => {
      return { orgName: reporter, reports: rest.reports, ...shown(rest), lastDay }
    }),
    selectors: selectors.map(({ signer, passed, ...rest }) => ({
      domain: signer,
      ...rest,
      pass: passed,
    })),
    readiness: evaluateReadiness({
      messages,
      aligned,
      days: daysIn(range),
      daysWithMail: days.filter((day) => day.messages > 0).length,
      published,
      senders,
      affected: affectedSources(sources),
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
    disposition: {
      none: messages - quarantined - rejected,
      quarantine: quarantined,
      reject: rejected,
    },
  }
}

function totalsOf(days: DayRow[]): Counts & { reports: number } {
  const totals = { reports: 0, ...zeroCounts() }
  for (const day of days)
    for (const key of Object.keys(totals) as (keyof typeof totals)[]) totals[key] += day[key]
  return totals
}

/** One entry for each day of the range, including days without mail. */
export function fillDays(range: DayRange, rows: DayRow[]) {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  return Array.from({ length: daysIn(range) }, (_, index) => {
    const day = dayOf(Date.parse(range.from) + index * DAY_MS)
    return { day, ...shown(byDay.get(day) ?? zeroCounts()) }
  })
}

/** A source as the API returns it, with its network. */
export function presentSource(domain: string, row: SourceRow, findAsn: FindAsn) {
  const { source, group, firstDay, lastDay, reverseName, confirmed, ...counts } = row
  const network = findAsn(source)
  return {
    sourceIp: source,
    reverseName,
    reverseConfirmed: confirmed,
    organizationalDomain: reverseName && registeredDomain(reverseName),
    asn: network?.number ?? null,
    asName: network?.name || null,
    group,
    sender: senderOf(domain, row),
    ...shown(counts),
    firstDay,
    lastDay,
  }
}

function senderOf(domain: string, row: SourceRow) {
  const { id, name } = nameSender(domain, row)
  return { id, name }
}

function shownGroups(rows: GroupRow[]) {
  const of = (group: string) =>
    rows.find((row) => row.group === group) ?? { sources: 0, messages: 0 }
  return Object.fromEntries(
    SOURCE_GROUPS.map((group) => [
      group,
      { sources: of(group).sources, messages: of(group).messages },
    ]),
  )
}

import type { AutonomousSystem } from '../../protocols/networks/asn-table.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import type { Db } from '../../store/database.ts'
import type { DomainRow } from '../domains/dmarc-domains.sql.ts'
import { zeroCounts, type Counts } from '../statistics/tally.ts'
import { MAX_SUMMARY_DAYS, MAX_SUMMARY_REPORTERS, MAX_SUMMARY_SOURCES } from '../limits.ts'
import { SOURCE_GROUPS } from '../shapes.ts'
import { groupSenders, nameSender, type Sender } from '../senders/senders.ts'
import { listMarks } from '../senders/sender-marks.sql.ts'
import { affectedSources, evaluateReadiness } from './readiness.ts'
import {
  findPublishedPolicy,
  findReportedDays,
  listSelectors,
  sumByDay,
  sumByReporter,
  sumBySource,
  type DayRow,
  type GroupRow,
  type DayRange,
  type SourceRow,
} from './dmarc-summary.sql.ts'
import { daysIn, lastDays, rangeBefore } from './range.ts'
import { DAY_MS, isoDay } from '../../time.ts'

/** Finds the autonomous system of an address in a local table; null if unknown. */
export type FindAsn = (address: string) => AutonomousSystem | null

const MAX_SUMMARY_SELECTORS = 100

/** Days on which the verdict about a stricter policy is based, whatever the summary covers. */
const READINESS_DAYS = 30

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
  const window = lastDays(READINESS_DAYS, range.to)
  const isWindow = window.from === range.from
  const earlier = rangeBefore(range)
  const [days, before, reporters, bySource, selectors, published, marks, reported, ...own] =
    await Promise.all([
      sumByDay(db, id, range),
      earlier && sumByDay(db, id, earlier),
      sumByReporter(db, id, range, MAX_SUMMARY_REPORTERS),
      sumBySource(db, id, range, MAX_SUMMARY_SOURCES),
      listSelectors(db, id, range, MAX_SUMMARY_SELECTORS),
      findPublishedPolicy(db, id),
      listMarks(db, id),
      findReportedDays(db, id),
      isWindow ? null : sumByDay(db, id, window),
      isWindow ? null : sumBySource(db, id, window, MAX_SUMMARY_SOURCES),
    ])
  const { sources, groups } = bySource
  const senders = groupSenders(domain, sources, marks)
  const totals = totalsOf(days)
  const { messages, aligned, reports } = totals
  return {
    domain,
    ...range,
    totals: { reports, ...shown(totals), passRate: messages === 0 ? null : aligned / messages },
    before: earlier && before && { ...earlier, ...comparedOf(before) },
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
    reported,
    readiness: readinessOf({
      window,
      published,
      newestDay: reported?.to ?? null,
      days: own[0] ?? days,
      sources: own[1]?.sources ?? sources,
      senders: own[1] ? groupSenders(domain, own[1].sources, marks) : senders,
    }),
  }
}

/** What is compared with the days before; fewer reports may explain fewer messages. */
function comparedOf(days: DayRow[]) {
  const { messages, aligned, reports } = totalsOf(days)
  return { messages, pass: aligned, reports }
}

type ReadinessSums = {
  window: DayRange
  published: string | null
  newestDay: string | null
  days: DayRow[]
  sources: SourceRow[]
  senders: Sender[]
}

/** The readiness has a window of its own, so that it does not change with the range of the summary. */
function readinessOf({ window, days, sources, ...facts }: ReadinessSums) {
  const { messages, aligned } = totalsOf(days)
  const daysWithMail = days.filter((day) => day.messages > 0).length
  const endsToday = window.to === isoDay(Date.now())
  return evaluateReadiness({
    ...facts,
    messages,
    aligned,
    window: { ...window, daysWithMail, endsToday },
    affected: affectedSources(sources),
  })
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

/**
 * One entry for each day of the range, including days without mail. Of a range that is longer than
 * reports are stored, only days with reports.
 */
export function fillDays(range: DayRange, rows: DayRow[]) {
  if (daysIn(range) > MAX_SUMMARY_DAYS) return rows.map((row) => ({ day: row.day, ...shown(row) }))
  const byDay = new Map(rows.map((row) => [row.day, row]))
  return Array.from({ length: daysIn(range) }, (_, index) => {
    const day = isoDay(Date.parse(range.from) + index * DAY_MS)
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

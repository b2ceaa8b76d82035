import type { AggregateReport } from '../../protocols/reports/aggregate-report.ts'
import type { SelectorTally } from './selectors.ts'
import type {
  ReporterDay,
  SelectorCount,
  SelectorDay,
  SourceDay,
  SourceMonth,
} from './dmarc-statistics.sql.ts'
import {
  addCounts,
  COUNTS,
  reportDays,
  isWithin,
  zeroCounts,
  messagesOnDay,
  type Counts,
  type Tally,
} from './tally.ts'

/** The parts of a report that statistics use. */
export type CountedReport = {
  report: Pick<AggregateReport, 'orgName' | 'dateRange'>
  tallies: Tally[]
  selectors: SelectorTally[]
  /** Whether its selectors are counted by day, too; by default they are. */
  selectorsByDay?: boolean
}

/** Sums reports by source and day or month, by reporter and day, and by selector. */
export function createStatistics() {
  const sources = new Map<string, SourceDay>()
  const reporters = new Map<string, ReporterDay>()
  const selectors = new Map<string, SelectorCount>()
  const selectorDays = new Map<string, SelectorDay>()

  function add(
    domainId: string,
    domain: string,
    { report, tallies, selectors: seen, selectorsByDay = true }: CountedReport,
  ): void {
    const days = reportDays(report.dateRange)
    const reporter = (report.orgName || 'unknown').slice(0, 255)
    const inside = tallies.filter(({ headerFrom }) => isWithin(headerFrom, domain))
    days.forEach((day, index) => {
      const seenBy = reporterDay(reporters, { domainId, day, reporter })
      // A report counts once, even if it covers several days.
      if (index === 0) seenBy.reports += 1
      for (const tally of inside)
        addShare(seenBy, sourceDay(sources, { domainId, day, source: tally.source }), tally)
      function addShare(a: Counts, b: Counts, tally: Tally): void {
        const share = messagesOnDay(tally.messages, index, days.length)
        addCounts(a, tally, share)
        addCounts(b, tally, share)
      }
    })
    for (const one of seen) {
      addSelector(selectors, { ...one, domainId, lastDay: days.at(-1) ?? '' })
      if (selectorsByDay) addSelectorDay(selectorDays, { ...one, domainId, day: days[0] ?? '' })
    }
  }

  return {
    add,
    all() {
      const days = [...sources.values()].filter(({ messages }) => messages > 0)
      return {
        days,
        months: monthsOf(days),
        reporters: [...reporters.values()],
        selectors: [...selectors.values()],
        selectorDays: [...selectorDays.values()],
        addresses: [...new Set(days.map(({ source }) => source))],
      }
    },
  }
}

function sourceDay(
  all: Map<string, SourceDay>,
  at: Pick<SourceDay, 'domainId' | 'day' | 'source'>,
): SourceDay {
  const key = `${at.domainId} ${at.day} ${at.source}`
  const known = all.get(key) ?? { ...at, ...zeroCounts() }
  all.set(key, known)
  return known
}

function monthsOf(days: SourceDay[]): SourceMonth[] {
  const months = new Map<string, SourceMonth>()
  for (const { day, ...rest } of days) {
    const month = `${day.slice(0, 7)}-01`
    const key = `${rest.domainId} ${month} ${rest.source}`
    const known = months.get(key)
    if (known) addDay(known, day, rest)
    else months.set(key, { ...rest, month, firstDay: day, lastDay: day })
  }
  return [...months.values()]
}

function addDay(month: SourceMonth, day: string, counts: Counts): void {
  for (const name of COUNTS) month[name] += counts[name]
  if (day < month.firstDay) month.firstDay = day
  if (day > month.lastDay) month.lastDay = day
}

function reporterDay(
  all: Map<string, ReporterDay>,
  at: Pick<ReporterDay, 'domainId' | 'day' | 'reporter'>,
): ReporterDay {
  const key = `${at.domainId} ${at.day} ${at.reporter}`
  const known = all.get(key) ?? { ...at, reports: 0, ...zeroCounts() }
  all.set(key, known)
  return known
}

function addSelector(all: Map<string, SelectorCount>, one: SelectorCount): void {
  const key = `${one.domainId} ${one.signer} ${one.selector}`
  const known = all.get(key)
  if (!known) return void all.set(key, one)
  known.messages += one.messages
  known.passed += one.passed
  if (one.lastDay > known.lastDay) known.lastDay = one.lastDay
}

function addSelectorDay(all: Map<string, SelectorDay>, one: SelectorDay): void {
  const key = `${one.domainId} ${one.day} ${one.signer} ${one.selector}`
  const known = all.get(key)
  if (!known) return void all.set(key, { ...one })
  known.messages += one.messages
  known.passed += one.passed
}

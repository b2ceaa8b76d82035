import type { ReadAggregate } from './read.ts'
import type { ReporterDay, SelectorCount, SourceDay } from './store.ts'
import { count, daysOf, isWithin, noCounts, shareOf, type Counts, type Tally } from './tally.ts'

/** Adds reports up by day and source, day and reporter, and by selector. */
export function createStatistics() {
  const sources = new Map<string, SourceDay>()
  const reporters = new Map<string, ReporterDay>()
  const selectors = new Map<string, SelectorCount>()

  function add(domainId: string, domain: string, { report, tallies, selectors: seen }: ReadAggregate): void {
    const days = daysOf(report.dateRange)
    const reporter = (report.orgName || 'unknown').slice(0, 255)
    const inside = tallies.filter(({ headerFrom }) => isWithin(headerFrom, domain))
    days.forEach((day, index) => {
      const seenBy = reporterDay(reporters, { domainId, day, reporter })
      // A report counts once, however many days it is on.
      if (index === 0) seenBy.reports += 1
      for (const tally of inside) addShare(seenBy, sourceDay(sources, { domainId, day, source: tally.source }), tally)
      function addShare(a: Counts, b: Counts, tally: Tally): void {
        const share = shareOf(tally.messages, index, days.length)
        count(a, tally, share)
        count(b, tally, share)
      }
    })
    for (const one of seen) addSelector(selectors, { ...one, domainId, lastDay: days.at(-1) ?? '' })
  }

  return {
    add,
    all: () => ({
      sources: [...sources.values()].filter(({ messages }) => messages > 0),
      reporters: [...reporters.values()],
      selectors: [...selectors.values()],
      addresses: [...new Set([...sources.values()].map(({ source }) => source))],
    }),
  }
}

function sourceDay(all: Map<string, SourceDay>, at: Pick<SourceDay, 'domainId' | 'day' | 'source'>): SourceDay {
  const key = `${at.domainId} ${at.day} ${at.source}`
  const known = all.get(key) ?? { ...at, ...noCounts() }
  all.set(key, known)
  return known
}

function reporterDay(
  all: Map<string, ReporterDay>,
  at: Pick<ReporterDay, 'domainId' | 'day' | 'reporter'>,
): ReporterDay {
  const key = `${at.domainId} ${at.day} ${at.reporter}`
  const known = all.get(key) ?? { ...at, reports: 0, ...noCounts() }
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

import { utcDay, utcDayText } from '../ui/text/dates.ts'
import type { StripDay } from '../ui/charts/day-strip.tsx'
import type { Host, HostDetail } from './api.ts'
import { days as messages } from './messages.ts'

const DAY_MS = 86_400_000

type Periods = HostDetail['periods']

/**
 * The state of a host on each of the last UTC days, with a summary as text.
 * @param now milliseconds since 1970
 */
export function describeDayStrip(
  periods: Periods,
  days: number,
  now: number,
): { text: string; days: StripDay[] } {
  const today = Math.floor(now / DAY_MS) * DAY_MS
  const strip = Array.from({ length: days }, (_, index) =>
    dayOf(periods, today - (days - 1 - index) * DAY_MS),
  )
  return { text: summarize(strip), days: strip }
}

/**
 * The strip from the state of each UTC day, today last.
 * @param now milliseconds since 1970
 */
export function describeDays(
  states: Host['days'],
  now: number,
): { text: string; days: StripDay[] } {
  const strip = states.map((state, index) => {
    const day = utcDay(now - (states.length - 1 - index) * DAY_MS)
    return { day, ...LOOKS[state](utcDayText(day)) }
  })
  return { text: summarize(strip), days: strip }
}

const LOOKS: Record<Host['days'][number], (name: string) => Omit<StripDay, 'day'>> = {
  listed: (name) => ({ look: 'bad', title: messages.listedDay(name) }),
  clean: (name) => ({ look: 'good', title: messages.clean(name) }),
  unknown: (name) => ({ look: 'unknown', title: messages.unknown(name) }),
  none: (name) => ({ look: 'none', title: messages.none(name) }),
}

function summarize(strip: StripDay[]): string {
  const count = (look: StripDay['look']) => strip.filter((each) => each.look === look).length
  return messages.summary({
    all: strip.length - count('none'),
    listed: count('bad'),
    clean: count('good'),
    unknown: count('unknown'),
  })
}

/** One listed minute makes a listed day; one clean hour outweighs unknown hours. */
function dayOf(periods: Periods, begin: number): StripDay {
  const day = utcDay(begin)
  const spent = (state: Periods[number]['state']) =>
    periods
      .filter((period) => period.state === state)
      .reduce((sum, { from, to }) => sum + overlap(Date.parse(from), Date.parse(to), begin), 0)
  const [listed, clean, unknown] = [spent('listed'), spent('clean'), spent('unknown')]
  const name = utcDayText(day)
  if (listed > 0) return { day, look: 'bad', title: messages.listed(name, listed / 1_000) }
  if (clean > 0) return { day, look: 'good', title: messages.clean(name) }
  if (unknown > 0) return { day, look: 'unknown', title: messages.unknown(name) }
  return { day, look: 'none', title: messages.none(name) }
}

function overlap(from: number, to: number, begin: number): number {
  return Math.max(0, Math.min(to, begin + DAY_MS) - Math.max(from, begin))
}

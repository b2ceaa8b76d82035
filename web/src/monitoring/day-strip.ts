import { dayText } from '../ui/charts/daily-chart.tsx'
import type { StripDay } from '../ui/charts/day-strip.tsx'
import { counted } from '../ui/text/format.ts'
import type { HostDetail } from './api.ts'
import { spanText } from './messages.ts'

const DAY = 86_400_000

type Periods = HostDetail['periods']

/** How a host was on each of the last UTC days. @param now milliseconds since 1970 */
export function describeDays(periods: Periods, days: number, now: number): { text: string; days: StripDay[] } {
  const today = Math.floor(now / DAY) * DAY
  const strip = Array.from({ length: days }, (_, index) => dayOf(periods, today - (days - 1 - index) * DAY))
  const count = (look: StripDay['look']) => strip.filter((each) => each.look === look).length
  const parts = [
    count('bad') > 0 && `listed on ${count('bad')}`,
    count('good') > 0 && `not listed on ${count('good')}`,
    count('unknown') > 0 && `not known on ${count('unknown')}`,
  ]
  const text = `${counted(days - count('none'), 'day')}: ${parts.filter(Boolean).join(', ')}`
  return { text, days: strip }
}

/** A day on which it was listed for a minute was one of listing; a clean hour tells more than hours of not knowing. */
function dayOf(periods: Periods, begin: number): StripDay {
  const day = new Date(begin).toISOString().slice(0, 10)
  const spent = (state: Periods[number]['state']) =>
    periods
      .filter((period) => period.state === state)
      .reduce((sum, { from, to }) => sum + overlap(Date.parse(from), Date.parse(to), begin), 0)
  const [listed, clean, unknown] = [spent('listed'), spent('clean'), spent('unknown')]
  const name = dayText(day)
  if (listed > 0) return { day, look: 'bad', title: `${name}: listed for ${spanText(listed / 1_000)}` }
  if (clean > 0) return { day, look: 'good', title: `${name}: not listed` }
  if (unknown > 0) return { day, look: 'unknown', title: `${name}: not known` }
  return { day, look: 'none', title: `${name}: not watched` }
}

function overlap(from: number, to: number, begin: number): number {
  return Math.max(0, Math.min(to, begin + DAY) - Math.max(from, begin))
}

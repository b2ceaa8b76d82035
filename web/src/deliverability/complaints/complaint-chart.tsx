import { DailyChart } from '../../ui/charts/daily-chart.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { messages as ui } from '../../ui/messages.ts'
import { utcDayText } from '../../ui/text/dates.ts'
import { numberText } from '../../ui/text/format.ts'
import type { ComplaintSummary } from './api.ts'
import { complaints as messages } from './messages.ts'

/** Complaints per day, from the first day of which something is known. */
export function ComplaintChart({ summary }: { summary: ComplaintSummary }) {
  const counts = sumByDay(summary)
  const days = [...counts.keys()]
  const [first] = days
  if (first === undefined) return null
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return (
    <div>
      <DailyChart
        label={messages.chart(summary.days)}
        text={
          days.length < summary.days
            ? messages.chartText(total, utcDayText(first))
            : messages.chartTextAll(total)
        }
        days={days}
        series={[{ name: messages.series, look: 'bad', counts: [...counts.values()] }]}
      />
      <Disclosure summary={ui.chart.table}>
        {() => (
          <Table caption={messages.chart(summary.days)} quiet columns={messages.dayColumns}>
            {days.toReversed().map((day) => (
              <tr key={day}>
                <th scope="row">{utcDayText(day)}</th>
                <td data-label={messages.series}>{numberText(counts.get(day) ?? 0)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Disclosure>
    </div>
  )
}

function sumByDay({ providers }: ComplaintSummary): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { day, complaints } of providers.flatMap(({ days }) => days))
    counts.set(day, (counts.get(day) ?? 0) + complaints)
  return new Map([...counts].toSorted(([a], [b]) => a.localeCompare(b)))
}

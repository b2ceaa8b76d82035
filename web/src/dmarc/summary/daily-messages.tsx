import { DailyChart } from '../../ui/charts/daily-chart.tsx'
import { daysBetween } from '../../ui/charts/series.ts'
import { monthsBetween, showsMonths, sumByMonth } from './months.ts'
import { utcDayText } from '../../ui/text/dates.ts'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted } from '../../ui/text/format.ts'
import type { Summary } from '../api.ts'
import { messages as ui } from '../../ui/messages.ts'
import { describeDays, shared, summary as messages } from '../messages.ts'

type DailyMessagesProps = {
  /** The domain, whose reports a day leads to. */
  id: string
  from: string
  to: string
  days: Pick<Summary['days'][number], 'day' | 'messages' | 'pass'>[]
  totals: { messages: number; fail: number }
}

/** Passed and failed messages of each day, or month, as a chart, a sentence and a table. */
export function DailyMessages({ id, from, to, days: all, totals }: DailyMessagesProps) {
  const isMonthly = showsMonths({ from, to })
  const byDay = new Map((isMonthly ? sumByMonth(all) : all).map((one) => [one.day, one]))
  const days = (isMonthly ? monthsBetween(from, to) : daysBetween(from, to)).map((day) => {
    const { messages: count, pass } = byDay.get(day) ?? { messages: 0, pass: 0 }
    return { day, messages: count, pass, fail: count - pass }
  })
  const title = isMonthly ? messages.monthly : messages.daily
  const columns = [
    isMonthly ? messages.month : messages.day,
    shared.messages,
    shared.passed,
    shared.failed,
  ]
  return (
    <Section title={title}>
      <DailyChart
        label={isMonthly ? messages.monthlyChart : messages.chart}
        text={describeDays({ days, totals })}
        days={days.map(({ day }) => day)}
        series={[
          { name: shared.passed, look: 'main', counts: days.map(({ pass }) => pass) },
          { name: shared.failed, look: 'bad', counts: days.map(({ fail }) => fail) },
        ]}
        open={(day) =>
          isMonthly
            ? undefined
            : {
                to: '/dmarc/$id/reports',
                params: { id },
                search: { day },
                label: messages.openDay(utcDayText(day)),
              }
        }
      />
      <Disclosure summary={ui.chart.table}>
        {() => (
          <Table caption={title} quiet columns={columns}>
            {days.toReversed().map(({ day, messages: count, pass, fail }) => (
              <tr key={day}>
                <th scope="row">{utcDayText(day)}</th>
                <td>{counted(count, shared.message)}</td>
                <td>{shared.passedCount(pass)}</td>
                <td>{shared.failedCount(fail)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Disclosure>
    </Section>
  )
}

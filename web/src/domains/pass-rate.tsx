import { useQuery } from '@tanstack/react-query'
import { DailyChart } from '../ui/charts/daily-chart.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Table } from '../ui/lists/table.tsx'
import { messages as ui } from '../ui/messages.ts'
import { utcDayText } from '../ui/text/dates.ts'
import { numberText } from '../ui/text/format.ts'
import { watchQuery, type DomainHistory as History } from './api.ts'
import { history as messages } from './messages.ts'

/** Messages that passed and failed DMARC on each day; a day leads to its reports. */
export function PassRate({ domain, passRate }: Pick<History, 'passRate'> & { domain: string }) {
  const { data: watch } = useQuery(watchQuery(domain))
  const total = passRate.reduce((sum, { messages: count }) => sum + count, 0)
  const passed = passRate.reduce((sum, { pass }) => sum + pass, 0)
  return (
    <div>
      <DailyChart
        label={messages.passRate}
        text={messages.chartText(passed, total)}
        days={passRate.map(({ day }) => day)}
        series={[
          { name: messages.passed, look: 'main', counts: passRate.map(({ pass }) => pass) },
          {
            name: messages.failed,
            look: 'bad',
            counts: passRate.map(({ messages: count, pass }) => count - pass),
          },
        ]}
        open={(day) =>
          watch?.dmarcDomainId
            ? {
                to: '/dmarc/$id/reports',
                params: { id: watch.dmarcDomainId },
                search: { day },
                label: messages.openDay(utcDayText(day)),
              }
            : undefined
        }
      />
      <PassRateTable passRate={passRate} />
    </div>
  )
}

function PassRateTable({ passRate }: Pick<History, 'passRate'>) {
  return (
    <Disclosure summary={ui.chart.table}>
      {() => (
        <Table caption={messages.passRate} quiet columns={messages.dayColumns}>
          {passRate.toReversed().map(({ day, messages: count, pass }) => (
            <tr key={day}>
              <th scope="row">{utcDayText(day)}</th>
              <td data-label={messages.passed}>{numberText(pass)}</td>
              <td data-label={messages.failed}>{numberText(count - pass)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Disclosure>
  )
}

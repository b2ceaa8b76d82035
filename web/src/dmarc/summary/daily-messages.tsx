import { DailyChart, dayText } from '../../ui/charts/daily-chart.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted, numberText } from '../../ui/text/format.ts'
import type { Summary } from '../api.ts'
import { describeDays } from '../words.ts'

/** How much came on each day, and how much of it failed: as a picture, in a sentence, and as a table. */
export function DailyMessages({ days, totals }: { days: Summary['days']; totals: { messages: number; fail: number } }) {
  return (
    <Section title="Messages per day">
      <DailyChart
        label="Messages per day, passed and failed"
        text={describeDays({ days, totals })}
        days={days.map(({ day }) => day)}
        series={[
          { name: 'Passed', look: 'main', counts: days.map(({ pass }) => pass) },
          { name: 'Failed', look: 'bad', counts: days.map(({ fail }) => fail) },
        ]}
      />
      <Disclosure summary="As a table">
        <Table caption="Messages per day" quiet columns={['Day (UTC)', 'Messages', 'Passed', 'Failed']}>
          {days.toReversed().map(({ day, messages, pass, fail }) => (
            <tr key={day}>
              <th scope="row">{dayText(day)}</th>
              <td>{counted(messages, 'message')}</td>
              <td>{numberText(pass)} passed</td>
              <td>{numberText(fail)} failed</td>
            </tr>
          ))}
        </Table>
      </Disclosure>
    </Section>
  )
}

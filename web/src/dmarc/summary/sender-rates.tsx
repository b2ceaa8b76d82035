import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { DailyChart } from '../../ui/charts/daily-chart.tsx'
import { RateChart, type RateDay } from '../../ui/charts/rate-chart.tsx'
import { daysBetween } from '../../ui/charts/series.ts'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Choice } from '../../ui/forms/choice.tsx'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { messages as ui } from '../../ui/messages.ts'
import { utcDayText } from '../../ui/text/dates.ts'
import { counted, numberText } from '../../ui/text/format.ts'
import { senderDaysQuery, type SenderDays } from '../api.ts'
import { senderRates as messages, shared } from '../messages.ts'
import type { Period } from '../search.ts'
import { shareText } from '../share-text.ts'
import { monthsBetween, showsMonths, sumByMonth } from './months.ts'
import classes from './sender-rates.module.css'

type View = 'rate' | 'volume'

type Series = Pick<SenderDays['others'], 'messages' | 'pass' | 'days'> & {
  id: string
  name: string
}

/** The pass rate or volume of each sender per day, the senders with most messages first. */
export function SenderRates({ id, period }: { id: string; period: Period }) {
  const [view, setView] = useState<View>('rate')
  const { data, error } = useQuery(senderDaysQuery(id, period))
  return (
    <Section
      title={messages.title}
      aside={
        <Choice
          label={messages.view}
          choices={messages.views}
          value={view}
          onChange={(to) => setView(to)}
        />
      }
    >
      <LoadingOrError there={data} error={error} lines={1} shape="chart">
        {messages.loading}
      </LoadingOrError>
      {data && <Charts id={id} data={data} view={view} />}
    </Section>
  )
}

function Charts({ id, data, view }: { id: string; data: SenderDays; view: View }) {
  const isMonthly = showsMonths(data)
  const days = isMonthly ? monthsBetween(data.from, data.to) : daysBetween(data.from, data.to)
  const all = seriesOf(data).map((series) =>
    isMonthly ? { ...series, days: sumByMonth(series.days) } : series,
  )
  return (
    <>
      <Muted>{view === 'rate' ? messages.rateHint : messages.volumeHint}</Muted>
      <ul className={classes.senders}>
        {all.map((series) => (
          <li key={series.id}>
            <SenderChart id={isMonthly ? null : id} days={days} series={series} view={view} />
          </li>
        ))}
      </ul>
      <Disclosure summary={ui.chart.table}>
        {() => (
          <Table caption={messages.title} quiet columns={messages.columns}>
            {all.flatMap((series) =>
              series.days.toReversed().map(({ day, messages: count, pass }) => (
                <tr key={`${series.id} ${day}`}>
                  <th scope="row">{series.name}</th>
                  <td>{utcDayText(day)}</td>
                  <td>{counted(count, shared.message)}</td>
                  <td>{shared.passedShare(shareText(pass, count))}</td>
                </tr>
              )),
            )}
          </Table>
        )}
      </Disclosure>
    </>
  )
}

function seriesOf({ senders, others }: SenderDays): Series[] {
  if (others.messages === 0) return senders
  return [...senders, { ...others, id: 'others', name: messages.others }]
}

/** Without an id, a bar leads nowhere. */
type SenderChartProps = { id: string | null; days: string[]; series: Series; view: View }

function SenderChart({ id, days, series, view }: SenderChartProps) {
  const { name, messages: count, pass } = series
  const byDay = new Map(series.days.map((day) => [day.day, day]))
  const values = days.map((day): RateDay | null => byDay.get(day) ?? null)
  const open = (day: string) =>
    id === null
      ? undefined
      : {
          to: '/dmarc/$id/reports' as const,
          params: { id },
          search: { day },
          label: messages.openDay(utcDayText(day)),
        }
  const text = messages.summary(shareText(pass, count), counted(count, shared.message))
  return (
    <>
      <h3 className={classes.name}>
        {name} <Muted>{text}</Muted>
      </h3>
      {view === 'rate' ? (
        <RateChart
          label={messages.rateOf(name)}
          days={days}
          values={values}
          texts={{ rate: messages.rate, volume: shared.messages, none: messages.none }}
          open={open}
        />
      ) : (
        <DailyChart
          label={messages.volumeOf(name)}
          text={messages.volumeText(numberText(pass), numberText(count - pass))}
          days={days}
          series={[
            { name: shared.passed, look: 'main', counts: values.map((one) => one?.pass ?? 0) },
            {
              name: shared.failed,
              look: 'bad',
              counts: values.map((one) => (one ? one.messages - one.pass : 0)),
            },
          ]}
          open={open}
        />
      )}
    </>
  )
}

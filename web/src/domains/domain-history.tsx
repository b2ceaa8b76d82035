import { useQuery } from '@tanstack/react-query'
import { domainsQuery } from '../dmarc/api.ts'
import { DailyChart } from '../ui/charts/daily-chart.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Section } from '../ui/layout/page.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { utcDayText } from '../ui/text/dates.ts'
import { messages as ui } from '../ui/messages.ts'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Table } from '../ui/lists/table.tsx'
import { numberText } from '../ui/text/format.ts'
import { historyQuery, type DomainHistory as History } from './api.ts'
import classes from './domain-history.module.css'
import { history as messages } from './messages.ts'

/** The pass rate of a domain, and changes of its records, listings and certificates. */
export function DomainHistory({ domain }: { domain: string }) {
  const { data, error } = useQuery(historyQuery(domain))
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data && data.passRate.some(({ messages: count }) => count > 0) && (
        <PassRate domain={domain} {...data} />
      )}
      {data && <Timeline {...data} />}
    </Section>
  )
}

function PassRate({ domain, passRate }: Pick<History, 'passRate'> & { domain: string }) {
  const { data: reporting } = useQuery(domainsQuery)
  const id = reporting?.find((one) => one.domain === domain)?.id
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
          id === undefined
            ? undefined
            : {
                to: '/dmarc/$id/reports',
                params: { id },
                search: { day },
                label: messages.openDay(utcDayText(day)),
              }
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

function Timeline({ events }: Pick<History, 'events'>) {
  if (events.length === 0) return <Muted>{messages.noEvents}</Muted>
  return (
    <ol className={classes.timeline}>
      {events.map(({ at, kind, name, before, after, detail }, index) => (
        <li key={`${at} ${index}`} data-kind={kind}>
          <p>
            <strong>{messages.kinds[kind]}</strong> {name}
          </p>
          <p className={classes.change}>{messages.change(before, after)}</p>
          <Muted>
            {detail !== null && `${detail} · `}
            <Ago at={at} />
          </Muted>
        </li>
      ))}
    </ol>
  )
}

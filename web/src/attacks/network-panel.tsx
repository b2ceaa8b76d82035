import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { DailyChart } from '../ui/charts/daily-chart.tsx'
import { utcDayBefore, utcDayText } from '../ui/text/dates.ts'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted, Row, Stack } from '../ui/layout/page.tsx'
import { PercentageBar } from '../ui/charts/percentage-bar.tsx'
import { Table } from '../ui/lists/table.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { Change } from '../ui/text/change.tsx'
import { numberText } from '../ui/text/format.ts'
import { networkQuery, type NetworkFacts } from './api.ts'
import { AttackMap, mapTitle } from './attack-map.tsx'
import { attackMap as mapMessages, network as messages } from './messages.ts'
import { useLabels } from './use-labels.ts'

/** Services in the first table; the others are in a closed disclosure. */
const MAX_SHOWN = 8

type NetworkPanelProps = {
  /** Milliseconds between two requests, where no change stream is open. */
  every?: number | false
  /** The UTC day of the map. */
  day?: string | undefined
  /** Whether charts lead to screens that need an account. */
  opens?: boolean
}

/** Statistics of attack reporting: listed addresses, reports per day, attacked networks and services. */
export function NetworkPanel({ every = false, day, opens = false }: NetworkPanelProps) {
  const { data, error } = useQuery({ ...networkQuery, refetchInterval: every })
  // The public page has no section heading above.
  const Heading = opens ? 'h3' : 'h2'
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data) return <Loading lines={5}>{messages.loading}</Loading>
  return (
    <Stack>
      <Stats
        stats={[
          [messages.stats.listed, numberText(data.listedIps)],
          [messages.stats.watchlist, numberText(data.watchlistIps)],
          [messages.stats.day, numberText(data.reports24h)],
          [
            messages.stats.week,
            <Fragment key="week">
              {numberText(data.reports7d)}
              <WeekChange {...data} />
            </Fragment>,
          ],
          [messages.stats.networks, numberText(data.reporters7d)],
        ]}
      />
      {data.totalReports === 0 ? (
        <Muted>{messages.empty}</Muted>
      ) : (
        <>
          <ReportChart {...data} opens={opens} />
          <Stack>
            <Row>
              <Heading id={MAP}>{mapTitle(day)}</Heading>
              {day !== undefined && (
                <Link to="/attacks" search={{}}>
                  {mapMessages.lastDays}
                </Link>
              )}
            </Row>
            <AttackMap
              day={day}
              opens={opens}
              every={every}
              newest={data.perDay.findLast(({ count }) => count > 0)?.day}
            />
          </Stack>
          <Attacked {...data} opens={opens} />
        </>
      )}
    </Stack>
  )
}

const WEEK_DAYS = 7

/** Compares the seven days before today with the seven before them: today is not over. */
function WeekChange({ perDay }: Pick<NetworkFacts, 'perDay'>) {
  const today = utcDayBefore(0)
  const counts = perDay.filter(({ day }) => day < today).map(({ count }) => count)
  const sum = (days: number[]) => days.reduce((total, count) => total + count, 0)
  if (counts.length < 2 * WEEK_DAYS) return null
  return (
    <Change
      now={sum(counts.slice(-WEEK_DAYS))}
      before={sum(counts.slice(-2 * WEEK_DAYS, -WEEK_DAYS))}
      period={messages.weekBefore}
    />
  )
}

type Opens = { opens: boolean }

/** The anchor of the map. */
const MAP = 'map'

const DAYS = 30

function ReportChart({ perDay, opens }: NetworkFacts & Opens) {
  const counts = new Map(perDay.map(({ day, count }) => [day, count]))
  const days = Array.from({ length: DAYS }, (_, ago) => utcDayBefore(DAYS - 1 - ago))
  const most = perDay.reduce((one, other) => (other.count > one.count ? other : one), {
    day: '',
    count: 0,
  })
  const sum = perDay.reduce((total, { count }) => total + count, 0)
  const peak = sum > 0 ? { day: utcDayText(most.day), count: most.count } : null
  return (
    <>
      <DailyChart
        label={messages.perDay}
        text={messages.chartText(sum, DAYS, peak)}
        days={days}
        series={[
          { name: messages.reports, look: 'main', counts: days.map((day) => counts.get(day) ?? 0) },
        ]}
        open={(day) =>
          opens
            ? {
                to: '/attacks',
                search: { day },
                hash: MAP,
                label: messages.openDay(utcDayText(day)),
              }
            : undefined
        }
      />
      <Disclosure summary={messages.table}>
        {() => (
          <Table caption={messages.perDay} quiet columns={[...messages.dayColumns]}>
            {perDay.toReversed().map(({ day, count }) => (
              <tr key={day}>
                <th scope="row">{utcDayText(day)}</th>
                <td data-label={messages.reports}>{numberText(count)}</td>
              </tr>
            ))}
          </Table>
        )}
      </Disclosure>
    </>
  )
}

function Attacked({ byService, totalReports, opens }: NetworkFacts & Opens) {
  const rest = byService.slice(MAX_SHOWN)
  return (
    <>
      <ServiceTable
        caption={messages.services}
        services={byService.slice(0, MAX_SHOWN)}
        total={totalReports}
        opens={opens}
      />
      {rest.length > 0 && (
        <Disclosure summary={messages.more(rest.length)}>
          <ServiceTable
            caption={messages.moreServices}
            services={rest}
            total={totalReports}
            opens={opens}
          />
        </Disclosure>
      )}
    </>
  )
}

type ServiceTableProps = Opens & {
  caption: string
  services: NetworkFacts['byService']
  total: number
}

function ServiceTable({ caption, services, total, opens }: ServiceTableProps) {
  const labelOf = useLabels()
  return (
    <Table caption={caption} columns={[...messages.serviceColumns]}>
      {services.map(({ service, count }) => (
        <tr key={service}>
          <th scope="row">
            {opens ? (
              <Link to="/attacks/list" search={{ service }}>
                {labelOf(service)}
              </Link>
            ) : (
              labelOf(service)
            )}
          </th>
          <td data-label={messages.reports}>{numberText(count)}</td>
          <td>
            <PercentageBar part={count} whole={total} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

import { useQuery } from '@tanstack/react-query'
import { DailyChart, dayText } from '../ui/charts/daily-chart.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted, Stack } from '../ui/layout/page.tsx'
import { PercentageBar } from '../ui/charts/percentage-bar.tsx'
import { Table } from '../ui/lists/table.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import { networkQuery, type NetworkFacts } from './api.ts'
import { useLabels } from './use-labels.ts'

/** Lines that are in view; the rest is folded away. */
const FIRST = 8

/**
 * The network in numbers: how much is listed, reports by day, and what is attacked.
 * @param every milliseconds between two looks, for those who are not told of changes
 */
export function NetworkPanel({ every = false }: { every?: number | false }) {
  const { data, error } = useQuery({ ...networkQuery, refetchInterval: every })
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!data) return <Loading lines={5}>Counting …</Loading>
  return (
    <Stack>
      <Stats
        stats={[
          ['Listed', numberText(data.listedIps)],
          ['Watched', numberText(data.watchlistIps)],
          ['Reports in 24 hours', numberText(data.reports24h)],
          ['In 7 days', numberText(data.reports7d)],
          ['Networks that report', numberText(data.reporters7d)],
        ]}
      />
      {data.totalReports === 0 ? (
        <Muted>Nothing was reported yet.</Muted>
      ) : (
        <>
          <ReportChart {...data} />
          <Attacked {...data} />
        </>
      )}
    </Stack>
  )
}

const DAYS = 30
const DAY = 86_400_000

function ReportChart({ perDay }: NetworkFacts) {
  const counts = new Map(perDay.map(({ day, count }) => [day, count]))
  const days = Array.from({ length: DAYS }, (_, ago) =>
    new Date(Date.now() - (DAYS - 1 - ago) * DAY).toISOString().slice(0, 10),
  )
  const most = perDay.reduce((one, other) => (other.count > one.count ? other : one), { day: '', count: 0 })
  const sum = perDay.reduce((total, { count }) => total + count, 0)
  const peak = sum > 0 ? `, most on ${dayText(most.day)}: ${numberText(most.count)}` : ''
  return (
    <>
      <DailyChart
        label="Reports by day"
        text={`${counted(sum, 'report')} in ${DAYS} days${peak}.`}
        days={days}
        series={[{ name: 'Reports', look: 'main', counts: days.map((day) => counts.get(day) ?? 0) }]}
      />
      <Disclosure summary="As a table">
        <Table caption="Reports by day" quiet columns={['Day', 'Reports']}>
          {perDay.toReversed().map(({ day, count }) => (
            <tr key={day}>
              <th scope="row">{dayText(day)}</th>
              <td data-label="Reports">{numberText(count)}</td>
            </tr>
          ))}
        </Table>
      </Disclosure>
    </>
  )
}

function Attacked({ byService, totalReports }: NetworkFacts) {
  const rest = byService.slice(FIRST)
  return (
    <>
      <ServiceTable caption="What is attacked" services={byService.slice(0, FIRST)} total={totalReports} />
      {rest.length > 0 && (
        <Disclosure summary={`${rest.length} more`}>
          <ServiceTable caption="Attacked less" services={rest} total={totalReports} />
        </Disclosure>
      )}
    </>
  )
}

type ServiceTableProps = { caption: string; services: NetworkFacts['byService']; total: number }

function ServiceTable({ caption, services, total }: ServiceTableProps) {
  const labelOf = useLabels()
  return (
    <Table caption={caption} columns={['Service', 'Reports', 'Share']}>
      {services.map(({ service, count }) => (
        <tr key={service}>
          <th scope="row">{labelOf(service)}</th>
          <td data-label="Reports">{numberText(count)}</td>
          <td>
            <PercentageBar part={count} whole={total} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

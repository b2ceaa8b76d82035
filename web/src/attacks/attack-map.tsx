import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MatrixChart, type MatrixCell } from '../ui/charts/matrix-chart.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { messages as ui } from '../ui/messages.ts'
import { utcDayText } from '../ui/text/dates.ts'
import { numberText } from '../ui/text/format.ts'
import { useWidth } from '../ui/charts/use-width.ts'
import { attackMapQuery, type AttackMapFacts } from './api.ts'
import { attackMap as messages } from './messages.ts'
import { useLabels } from './use-labels.ts'

type AttackMapProps = {
  /** One UTC day; by default the last seven. */
  day?: string | undefined
  /** Whether cells lead to the list of attackers, which needs an account. */
  opens: boolean
  every?: number | false
  /** The last UTC day with reports, offered where the chosen days have none. */
  newest?: string | undefined
}

/** Attacks by network of the attackers and by attacked service. */
export function AttackMap({ day, opens, every = false, newest }: AttackMapProps) {
  const { data, error } = useQuery({ ...attackMapQuery(day), refetchInterval: every })
  return (
    <div>
      <LoadingOrError there={data} error={error} lines={1} shape="chart">
        {messages.loading}
      </LoadingOrError>
      {data &&
        (data.reports > 0 ? (
          <Map data={data} opens={opens} />
        ) : (
          <Muted>
            {messages.empty}{' '}
            {newest !== undefined && (
              <>
                {messages.newest(utcDayText(newest))}{' '}
                {opens && (
                  <Link to="/attacks" search={{ day: newest }} hash="map">
                    {messages.showNewest}
                  </Link>
                )}
              </>
            )}
          </Muted>
        ))}
    </div>
  )
}

/** Networks in the chart; the table has all that the API returns. */
const MAX_ROWS = 12

function Map({ data, opens }: { data: AttackMapFacts; opens: boolean }) {
  const [place, width] = useWidth<HTMLDivElement>()
  const labelOf = useLabels()
  const columns = topServices(data, width > 0 && width < 560 ? 4 : 7)
  const rows = data.networks.slice(0, MAX_ROWS)
  const cells = rows.flatMap((row, index) => cellsOf(row, index, columns, labelOf, opens))
  const names = columns.map((service) =>
    service === null ? messages.otherServices : labelOf(service),
  )
  return (
    <div ref={place}>
      <MatrixChart
        label={messages.title}
        text={messages.text(data.reports, data.networks.length + data.others.networks)}
        rows={rows.map(({ network, name }) => ({
          name: name || network,
          detail: name ? network : '',
        }))}
        columns={names}
        cells={cells}
      />
      <Disclosure summary={ui.chart.table}>
        {() => <MapTable data={data} labelOf={labelOf} />}
      </Disclosure>
    </div>
  )
}

/** The services with most reports, in order; null stands for all others. */
export function topServices(
  { networks, others }: Pick<AttackMapFacts, 'networks' | 'others'>,
  most: number,
): (string | null)[] {
  const sums = new globalThis.Map<string, number>()
  for (const { services } of [...networks, others])
    for (const { service, count } of services) sums.set(service, (sums.get(service) ?? 0) + count)
  const ordered = [...sums]
    .toSorted(([, one], [, other]) => other - one)
    .map(([service]) => service)
  return ordered.length <= most ? ordered : [...ordered.slice(0, most - 1), null]
}

function cellsOf(
  { network, name, services }: AttackMapFacts['networks'][number],
  row: number,
  columns: (string | null)[],
  labelOf: (service: string) => string,
  opens: boolean,
): MatrixCell[] {
  return columns.flatMap((column, index) => {
    const own = services.filter(({ service }) =>
      column === null ? !columns.includes(service) : service === column,
    )
    const count = own.reduce((sum, one) => sum + one.count, 0)
    if (count === 0) return []
    const open =
      opens && column !== null
        ? {
            to: '/attacks/list' as const,
            search: { service: column },
            label: messages.open(labelOf(column)),
          }
        : undefined
    const title = messages.cell(
      name || network,
      column === null ? messages.otherServices : labelOf(column),
    )
    const values = [
      { name: messages.reports, value: numberText(count) },
      ...(name ? [{ name: messages.network, value: network }] : []),
    ]
    return [{ row, column: index, count, point: { title, values, open } }]
  })
}

function MapTable({
  data: { networks, others },
  labelOf,
}: {
  data: AttackMapFacts
  labelOf: (service: string) => string
}) {
  const rest =
    others.networks > 0 ? [{ ...others, network: messages.others(others.networks), name: '' }] : []
  return (
    <Table caption={messages.title} quiet columns={[...messages.columns]}>
      {[...networks, ...rest].map(({ network, name, reports, services }) => (
        <tr key={network}>
          <th scope="row">
            {name || network}
            {name && <small>{network}</small>}
          </th>
          <td data-label={messages.reports}>{numberText(reports)}</td>
          <td>
            {services
              .map(({ service, count }) =>
                messages.serviceCount(labelOf(service), numberText(count)),
              )
              .join(', ')}
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** The heading of the map’s period. */
export const mapTitle = (day: string | undefined) =>
  day === undefined ? messages.title : messages.titleOfDay(utcDayText(day))

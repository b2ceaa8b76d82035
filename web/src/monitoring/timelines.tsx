import { useQuery } from '@tanstack/react-query'
import type { ChartPoint } from '../ui/charts/chart-tooltip.tsx'
import { TimelineChart, type TimelineItem, type TimelineRow } from '../ui/charts/timeline-chart.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Section } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { messages as ui } from '../ui/messages.ts'
import { minuteText, utcDay, utcDayText } from '../ui/text/dates.ts'
import {
  hostTimelineQuery,
  workspaceTimelineQuery,
  type HostTimeline,
  type TimelineSpan,
  type WorkspaceTimeline,
} from './api.ts'
import { certificateState, history, spanText, timeline as messages } from './messages.ts'

/** Listings of one host over 90 days, a row per blocklist, with changes of certificates and records. */
export function HostTimelineSection({ id }: { id: string }) {
  const { data, error } = useQuery(hostTimelineQuery(id))
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={1} shape="chart">
        {messages.loading}
      </LoadingOrError>
      {data && (
        <Chart {...data} rows={hostRows(id, data)} text={messages.hostText(data.lists.length)} />
      )}
    </Section>
  )
}

/** Listings of the workspace’s hosts over 90 days, a row per host. */
export function WorkspaceTimelineSection() {
  const { data, error } = useQuery(workspaceTimelineQuery)
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={1} shape="chart">
        {messages.loading}
      </LoadingOrError>
      {data && (
        <Chart
          {...data}
          rows={workspaceRows(data)}
          text={messages.workspaceText(
            data.hosts.filter(({ periods }) => periods.some(({ state }) => state === 'listed'))
              .length,
            data.hosts.length,
            Math.max(0, data.total - data.hosts.length),
          )}
        />
      )}
    </Section>
  )
}

type ChartProps = { from: string; to: string; rows: TimelineRow[]; text: string }

function Chart({ from, to, rows, text }: ChartProps) {
  return (
    <div>
      <TimelineChart
        label={messages.title}
        text={text}
        legend={messages.legend}
        from={Date.parse(from)}
        to={Date.parse(to)}
        rows={rows}
      />
      <Disclosure summary={ui.chart.table}>
        {() => (
          <Table caption={messages.title} quiet columns={messages.columns}>
            {rows.flatMap(({ name, items }) =>
              items.map(({ point }, index) => (
                <tr key={`${name} ${index}`}>
                  <th scope="row">{name}</th>
                  <td>{point.title}</td>
                  <td>{point.note}</td>
                </tr>
              )),
            )}
          </Table>
        )}
      </Disclosure>
    </div>
  )
}

function workspaceRows({ hosts }: WorkspaceTimeline): TimelineRow[] {
  return hosts.map(({ id, host, periods }) => ({
    name: host,
    items: periods.map((span) =>
      spanItem(span, {
        to: '/monitoring/$id',
        params: { id },
        label: messages.openHost(host),
      }),
    ),
  }))
}

function hostRows(id: string, { periods, lists, marks }: HostTimeline): TimelineRow[] {
  const openDay = (at: string, kind?: 'blacklist' | 'certificate' | 'dns') => {
    const day = utcDay(Date.parse(at))
    return {
      to: '/monitoring/$id' as const,
      params: { id },
      search: { day, kind },
      hash: 'changes',
      label: history.openDay(utcDayText(day)),
    }
  }
  const rows: TimelineRow[] = [
    {
      name: messages.importantLists,
      items: periods.map((span) => spanItem(span, openDay(span.from, 'blacklist'))),
    },
    ...lists.map(({ name, spans }) => ({
      name,
      items: spans.map((span) => spanItem(span, openDay(span.from, 'blacklist'))),
    })),
  ]
  const markRow = (kind: 'certificate' | 'dns', name: string): TimelineRow => ({
    name,
    items: marks
      .filter((mark) => mark.kind === kind)
      .map((mark) => markItem(mark, openDay(mark.at, kind))),
  })
  return [
    ...rows,
    markRow('certificate', messages.certificates),
    markRow('dns', messages.records),
  ].filter(({ items }, index) => index === 0 || items.length > 0)
}

const LOOKS = { clean: 'good', listed: 'bad', unknown: 'unknown' } as const

function spanItem({ state, from, to }: TimelineSpan, open: ChartPoint['open']): TimelineItem {
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  return {
    from: begin,
    to: end,
    look: LOOKS[state],
    point: {
      title: messages.span(messages.states[state], spanText((end - begin) / 1_000)),
      values: [],
      note: messages.period(minuteText(new Date(from)), minuteText(new Date(to))),
      open,
    },
  }
}

function markItem(
  { at, kind, name, from, to }: HostTimeline['marks'][number],
  open: ChartPoint['open'],
): TimelineItem {
  const time = Date.parse(at)
  const change =
    kind === 'certificate'
      ? `${certificateState(from).word} → ${certificateState(to).word}`
      : `${from || messages.absent} → ${to || messages.absent}`
  return {
    from: time,
    to: time,
    look: kind === 'certificate' ? 'certificate' : 'record',
    point: { title: `${name}: ${change}`, values: [], note: minuteText(new Date(at)), open },
  }
}

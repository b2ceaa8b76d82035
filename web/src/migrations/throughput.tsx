import { useQuery } from '@tanstack/react-query'
import { ThroughputChart, type ThroughputStep } from '../ui/charts/throughput-chart.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Section } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { messages as ui } from '../ui/messages.ts'
import { numberText, sizeText } from '../ui/text/format.ts'
import { clockText, exactText } from '../ui/text/dates.ts'
import { throughputQuery, type Throughput } from './api.ts'
import { throughput as messages } from './messages.ts'

/** Messages and bytes per second over the time of a migration. */
export function ThroughputSection({ id }: { id: string }) {
  const { data } = useQuery(throughputQuery(id))
  if (!data || data.points.length < 2 || secondsOf(data) < MIN_CHART_SECONDS) return null
  const steps = stepsOf(data)
  return (
    <Section title={messages.title}>
      <div>
        <ThroughputChart
          label={messages.title}
          text={messages.text(data.stepSeconds)}
          names={[messages.messages, messages.megabytes]}
          marks={messages.marks}
          steps={steps}
          timeText={(step) => clockText(timeOf(data, step))}
        />
        <Disclosure summary={ui.chart.table}>
          {() => (
            <Table caption={messages.title} quiet columns={messages.columns}>
              {steps.toReversed().map(({ step, point, marks }) => (
                <tr key={step}>
                  <th scope="row">{point.title}</th>
                  <td>{point.values[0]?.value}</td>
                  <td>{point.values[1]?.value}</td>
                  <td>{marks.map((mark) => messages.marks[mark]).join(', ')}</td>
                </tr>
              ))}
            </Table>
          )}
        </Disclosure>
      </div>
    </Section>
  )
}

/** Of a shorter time, two bars would say nothing. */
const MIN_CHART_SECONDS = 10

function secondsOf({ points, stepSeconds }: Throughput): number {
  const [first, last] = [points[0]?.step ?? 0, points.at(-1)?.step ?? 0]
  return (last - first + 1) * stepSeconds
}

const MEGABYTE = 1_000_000

function stepsOf(data: Throughput): ThroughputStep[] {
  return data.points.map(({ step, messages: count, bytes, throttled, connectionLost }) => {
    const [perSecond, bytesPerSecond] = [count / data.stepSeconds, bytes / data.stepSeconds]
    const marks = [
      ...(throttled ? (['throttled'] as const) : []),
      ...(connectionLost ? (['lost'] as const) : []),
    ]
    return {
      step,
      rates: [perSecond, bytesPerSecond / MEGABYTE],
      marks,
      point: {
        title: exactText(timeOf(data, step)),
        values: [
          { name: messages.messages, value: numberText(Math.round(perSecond * 10) / 10) },
          { name: messages.data, value: messages.perSecond(sizeText(Math.round(bytesPerSecond))) },
        ],
        note: marks.map((mark) => messages.marks[mark]).join(', ') || undefined,
      },
    }
  })
}

function timeOf({ startedAt, stepSeconds }: Throughput, step: number): Date {
  return new Date(Date.parse(startedAt) + step * stepSeconds * 1_000)
}

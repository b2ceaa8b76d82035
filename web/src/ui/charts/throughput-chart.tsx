import { useId } from 'react'
import { AXES, LabelAxis, ValueAxis, compactText } from './axes.tsx'
import { ChartFigure } from './chart-figure.tsx'
import { ChartSurface } from './chart-surface.tsx'
import type { ChartPoint } from './chart-tooltip.tsx'
import looks from './looks.module.css'
import { niceScale } from './scales.ts'
import classes from './throughput-chart.module.css'

/** One step of time: its rates, and what slowed it down. */
export type ThroughputStep = {
  step: number
  rates: [upper: number, lower: number]
  marks: ('throttled' | 'lost')[]
  point: ChartPoint
}

type ThroughputChartProps = {
  label: string
  text: string
  /** The names and units of the upper and lower plot. */
  names: [upper: string, lower: string]
  marks: { throttled: string; lost: string }
  /** Seconds since the start that a step stands for. */
  steps: ThroughputStep[]
  /** The label of a step on the axis. */
  timeText: (step: number) => string
}

const PLOT = 96
const GAP = 28
const MARKS = 18
const TICKS = 2
const HEIGHT = GAP + PLOT + GAP + PLOT + MARKS + AXES.below
const TIME_LABELS = 6

/** Two rates over the time of a run, with marks below. Steps without a report are gaps. */
export function ThroughputChart({
  label,
  text,
  names,
  marks,
  steps,
  timeText,
}: ThroughputChartProps) {
  const caption = useId()
  const first = steps[0]?.step ?? 0
  const count = (steps.at(-1)?.step ?? 0) - first + 1
  const widthOf = (width: number) => (width - AXES.left) / count
  const leftOf = (index: number, width: number) =>
    AXES.left + ((steps[index]?.step ?? first) - first) * widthOf(width)
  return (
    <ChartFigure legend={[]} text={text} textId={caption}>
      <ChartSurface
        label={label}
        height={HEIGHT}
        points={steps.map(({ point }) => point)}
        hit={(x, _, width) => nearestStep(steps, first + (x - AXES.left) / widthOf(width), x)}
        anchor={(index, width) => ({ x: leftOf(index, width) + widthOf(width) / 2, y: GAP })}
      >
        {(width, active) => (
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={label}
            aria-describedby={caption}
          >
            {active !== null && (
              <rect
                className={classes.active}
                x={leftOf(active, width)}
                width={Math.max(2, widthOf(width))}
                y={GAP}
                height={HEIGHT - GAP - AXES.below}
              />
            )}
            {([0, 1] as const).map((plot) => (
              <Bars
                key={plot}
                name={names[plot]}
                top={GAP + plot * (PLOT + GAP)}
                width={width}
                values={steps.map(({ rates }) => rates[plot])}
                x={(index) => leftOf(index, width)}
                bar={Math.max(1, widthOf(width) - (widthOf(width) > 4 ? 1 : 0))}
              />
            ))}
            {steps.flatMap(({ marks: own }, index) =>
              own.map((mark) => (
                <Mark
                  key={`${mark} ${index}`}
                  mark={mark}
                  name={marks[mark]}
                  x={leftOf(index, width) + widthOf(width) / 2}
                  y={GAP + PLOT + GAP + PLOT + MARKS / 2 + 2}
                />
              )),
            )}
            <g transform={`translate(${AXES.left} 0)`}>
              <TimeLabels first={first} count={count} width={width - AXES.left} text={timeText} />
            </g>
          </svg>
        )}
      </ChartSurface>
      {steps.some((step) => step.marks.length > 0) && (
        <ul className={classes.legend} aria-hidden="true">
          {(['throttled', 'lost'] as const).map((mark) => (
            <li key={mark}>
              <svg width={14} height={14}>
                <Mark mark={mark} name={marks[mark]} x={7} y={7} />
              </svg>
              {marks[mark]}
            </li>
          ))}
        </ul>
      )}
    </ChartFigure>
  )
}

function nearestStep(steps: ThroughputStep[], at: number, x: number): number | null {
  if (x < AXES.left || steps.length === 0) return null
  let nearest = 0
  for (const [index, { step }] of steps.entries())
    if (Math.abs(step + 0.5 - at) < Math.abs((steps[nearest]?.step ?? 0) + 0.5 - at))
      nearest = index
  return nearest
}

type BarsProps = {
  name: string
  top: number
  width: number
  values: number[]
  x: (index: number) => number
  bar: number
}

function Bars({ name, top, width, values, x, bar }: BarsProps) {
  const { y, ticks } = niceScale(Math.max(1, ...values), PLOT, TICKS)
  return (
    <g transform={`translate(0 ${top})`}>
      <text className={classes.name} x={0} y={-10}>
        {name}
      </text>
      <g transform={`translate(${AXES.left} 0)`}>
        <ValueAxis ticks={ticks} y={y} width={width - AXES.left} text={compactText} />
      </g>
      {values.map(
        (value, index) =>
          value > 0 && (
            <rect
              key={index}
              className={looks.main}
              x={x(index)}
              width={bar}
              y={Math.min(PLOT - 1, y(value))}
              height={Math.max(1, PLOT - y(value))}
            />
          ),
      )}
    </g>
  )
}

type MarkProps = { mark: 'throttled' | 'lost'; name: string; x: number; y: number }

/** A triangle or a cross: they differ without colour too. */
function Mark({ mark, name, x, y }: MarkProps) {
  const path =
    mark === 'throttled'
      ? `M${x - 5} ${y + 4}L${x} ${y - 5}L${x + 5} ${y + 4}Z`
      : `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x + 4} ${y - 4}L${x - 4} ${y + 4}`
  return (
    <path className={classes[mark]} d={path}>
      <title>{name}</title>
    </path>
  )
}

function TimeLabels({
  first,
  count,
  width,
  text,
}: {
  first: number
  count: number
  width: number
  text: (step: number) => string
}) {
  const labels = Math.min(TIME_LABELS, count)
  const steps = Array.from({ length: labels }, (_, index) =>
    labels === 1 ? first : Math.round(first + (index * (count - 1)) / (labels - 1)),
  )
  return (
    <LabelAxis
      labels={steps.map(text)}
      x={(index) => (labels === 1 ? 0 : (index * width) / (labels - 1))}
      y={HEIGHT - 6}
      width={width}
    />
  )
}

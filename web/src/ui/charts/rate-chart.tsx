import { useId } from 'react'
import { messages } from '../messages.ts'
import { utcDayText } from '../text/dates.ts'
import { numberText } from '../text/format.ts'
import { AXES, DayAxis, ValueAxis } from './axes.tsx'
import { ChartSurface } from './chart-surface.tsx'
import type { DrillDown } from './chart-tooltip.tsx'
import classes from './rate-chart.module.css'
import looks from './looks.module.css'
import { dayScale, linePath, valueScale } from './scales.ts'
import { dayAt, rateOf, segmentsOf } from './series.ts'

/** The messages of one day and how many of them passed. */
export type RateDay = { messages: number; pass: number }

type RateChartProps = {
  /** The name of the chart. */
  label: string
  /** UTC: `2026-11-21`. */
  days: string[]
  /** One for each day; null without messages. */
  values: (RateDay | null)[]
  texts: { rate: string; volume: string; none: string }
  open?: ((day: string) => DrillDown | undefined) | undefined
}

const HEIGHT = 96
const TICKS = [0, 50, 100]
/** With more days, only days between gaps have a dot. */
const MAX_DOTS = 31

/**
 * The pass rate per day as a line, and the number of messages as bars behind it. A day without
 * messages is a gap.
 */
export function RateChart({ label, days, values, texts, open }: RateChartProps) {
  const caption = useId()
  const rates = values.map((value) => value && rateOf(value.messages, value.pass))
  const points = days.map((day, index) => {
    const value = values[index]
    return {
      title: utcDayText(day),
      values: value
        ? [
            {
              name: texts.rate,
              value: messages.percentage(rates[index] ?? 0),
              look: 'rate' as const,
            },
            { name: texts.volume, value: numberText(value.messages), look: 'volume' as const },
          ]
        : [],
      note: value ? undefined : texts.none,
      open: value ? open?.(day) : undefined,
    }
  })
  const y = valueScale(100, HEIGHT)
  const scale = (width: number) => dayScale(days.length, width - AXES.left)
  const height = AXES.above + HEIGHT + AXES.below
  return (
    <ChartSurface
      label={label}
      height={height}
      points={points}
      hit={(x, _, width) => dayAt(x - AXES.left, days.length, width - AXES.left)}
      anchor={(index, width) => ({
        x: AXES.left + scale(width).middle(index),
        y: AXES.above + y(rates[index] ?? 0),
      })}
    >
      {(width, active) => (
        <svg width={width} height={height} role="img" aria-label={label} aria-describedby={caption}>
          <g transform={`translate(${AXES.left} ${AXES.above})`}>
            <Volume values={values} width={width - AXES.left} active={active} />
            <ValueAxis
              ticks={TICKS}
              y={y}
              width={width - AXES.left}
              text={(tick) => messages.percentage(tick)}
            />
            <Line rates={rates} x={scale(width).middle} y={y} />
            <DayAxis
              days={days}
              x={scale(width).middle}
              y={HEIGHT + 18}
              width={width - AXES.left}
            />
          </g>
        </svg>
      )}
    </ChartSurface>
  )
}

function Volume({
  values,
  width,
  active,
}: Pick<RateChartProps, 'values'> & { width: number; active: number | null }) {
  const x = dayScale(values.length, width)
  const highest = Math.max(1, ...values.map((value) => value?.messages ?? 0))
  // Half of the height, so that the bars stay behind the line.
  const height = (count: number) => Math.max(1, (count / highest) * HEIGHT * 0.5)
  return (
    <>
      {active !== null && (
        <rect
          className={classes.active}
          x={x.left(active) - x.step * 0.125}
          width={x.step}
          height={HEIGHT}
        />
      )}
      {values.map(
        (value, day) =>
          value && (
            <rect
              key={day}
              className={looks.volume}
              x={x.left(day)}
              width={x.band}
              y={HEIGHT - height(value.messages)}
              height={height(value.messages)}
            />
          ),
      )}
    </>
  )
}

type LineProps = {
  rates: (number | null)[]
  x: (index: number) => number
  y: (rate: number) => number
}

function Line({ rates, x, y }: LineProps) {
  return segmentsOf(rates).map((segment) => (
    <g key={segment[0]}>
      <path
        className={looks.rate}
        d={linePath(segment.map((index) => [x(index), y(rates[index] ?? 0)]))}
      />
      {(segment.length === 1 || rates.length <= MAX_DOTS) &&
        segment.map((index) => (
          <circle
            key={index}
            className={classes.dot}
            cx={x(index)}
            cy={y(rates[index] ?? 0)}
            r={2.5}
          />
        ))}
    </g>
  ))
}

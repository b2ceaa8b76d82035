import { scaleBand, scaleLinear } from 'd3-scale'
import { stack } from 'd3-shape'
import { useId } from 'react'
import classes from './daily-chart.module.css'
import { useWidth } from './use-width.ts'
import { utcDayText } from '../text/dates.ts'
import { numberText } from '../text/format.ts'

/** Counts per day; `bad` is hatched, so that it can be distinguished without colour. */
export type DaySeries = { name: string; look: 'main' | 'bad'; counts: number[] }

type DailyChartProps = {
  /** The name of the chart. */
  label: string
  /** A summary in a sentence or two. */
  text: string
  /** UTC: `2026-11-21`. */
  days: string[]
  /** From the bottom up, each with as many counts as there are days. */
  series: DaySeries[]
}

const HEIGHT = 176
const LEFT = 44
const ABOVE = 8
const BELOW = 24
const TICKS = 3
const COMPACT = new Intl.NumberFormat('en-GB', { notation: 'compact' })

/** A stacked bar per day. The text below repeats it; place a table beside it. */
export function DailyChart({ label, text, days, series }: DailyChartProps) {
  const [place, width] = useWidth<HTMLDivElement>()
  const [caption, hatch] = [useId(), useId()]
  return (
    <figure className={classes.chart}>
      <div ref={place} className={classes.plot}>
        {width > LEFT && (
          <svg
            width={width}
            height={ABOVE + HEIGHT + BELOW}
            role="img"
            aria-label={label}
            aria-describedby={caption}
          >
            <Hatch id={hatch} />
            <g transform={`translate(${LEFT} ${ABOVE})`}>
              <Plot days={days} series={series} width={width - LEFT} hatch={hatch} />
            </g>
          </svg>
        )}
      </div>
      <figcaption>
        <ul className={classes.legend}>
          {series.map(({ name, look }) => (
            <li key={name}>
              <svg width={14} height={14} aria-hidden="true">
                <Part look={look} hatch={hatch} x={1} y={1} width={12} height={12} />
              </svg>
              {name}
            </li>
          ))}
        </ul>
        <p id={caption}>{text}</p>
      </figcaption>
    </figure>
  )
}

type PlotProps = Pick<DailyChartProps, 'days' | 'series'> & { width: number; hatch: string }

function Plot({ days, series, width, hatch }: PlotProps) {
  const layers = stack<number, number>()
    .keys(series.keys())
    .value((day, index) => series[index]?.counts[day] ?? 0)([...days.keys()])
  const highest = Math.max(1, ...(layers.at(-1)?.map(([, top]) => top) ?? []))
  const x = scaleBand<number>().domain(days.keys()).range([0, width]).paddingInner(0.25)
  const y = scaleLinear().domain([0, highest]).nice(TICKS).range([HEIGHT, 0])
  return (
    <>
      {y.ticks(Math.min(TICKS, highest)).map((tick) => (
        <g key={tick} transform={`translate(0 ${y(tick)})`}>
          <line className={classes.line} x2={width} />
          <text x={-8} dy="0.32em" textAnchor="end">
            {COMPACT.format(tick)}
          </text>
        </g>
      ))}
      {layers.map((layer, index) =>
        layer.map(([bottom, top], day) => (
          <Part
            key={`${index} ${day}`}
            look={series[index]?.look ?? 'main'}
            hatch={hatch}
            x={x(day) ?? 0}
            width={x.bandwidth()}
            y={y(top)}
            // A count of one stays visible beside a count of a thousand.
            height={top === bottom ? 0 : Math.max(2, y(bottom) - y(top) - (bottom > 0 ? 1 : 0))}
          />
        )),
      )}
      {days.map((day, index) => (
        <rect key={day} className={classes.day} x={x(index)} width={x.bandwidth()} height={HEIGHT}>
          <title>{`${utcDayText(day)}: ${series.map(({ name, counts }) => `${name} ${numberText(counts[index] ?? 0)}`).join(', ')}`}</title>
        </rect>
      ))}
      <Dates days={days} x={(day) => (x(day) ?? 0) + x.bandwidth() / 2} width={width} />
    </>
  )
}

type PartProps = {
  look: DaySeries['look']
  hatch: string
  x: number
  y: number
  width: number
  height: number
}

function Part({ look, hatch, ...place }: PartProps) {
  if (place.height === 0) return null
  if (look === 'main') return <rect {...place} className={classes.main} rx={1} />
  return <rect {...place} className={classes.bad} fill={`url(#${hatch})`} />
}

function Hatch({ id }: { id: string }) {
  return (
    <pattern
      id={id}
      width={4}
      height={4}
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <rect className={classes.ground} width={4} height={4} />
      <line className={classes.hatch} y2={4} />
    </pattern>
  )
}

/** Pixels that a date needs for itself. */
const DATE_WIDTH = 72

function Dates({ days, x, width }: { days: string[]; x: (day: number) => number; width: number }) {
  const every = Math.max(1, Math.ceil(days.length / Math.max(1, Math.floor(width / DATE_WIDTH))))
  const last = days.length - 1
  return days.map((day, index) => {
    if ((last - index) % every !== 0) return null
    const anchor = index === last ? 'end' : x(index) < DATE_WIDTH / 2 ? 'start' : 'middle'
    const at = index === last ? width : anchor === 'start' ? 0 : x(index)
    return (
      <text key={day} x={at} y={HEIGHT + 18} textAnchor={anchor}>
        {utcDayText(day)}
      </text>
    )
  })
}

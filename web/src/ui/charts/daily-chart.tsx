import { useId } from 'react'
import { utcDayText } from '../text/dates.ts'
import { numberText } from '../text/format.ts'
import { messages } from '../messages.ts'
import { AXES, DayAxis, ValueAxis } from './axes.tsx'
import { ChartFigure } from './chart-figure.tsx'
import { ChartSurface } from './chart-surface.tsx'
import type { DrillDown } from './chart-tooltip.tsx'
import classes from './daily-chart.module.css'
import { Hatches, hatchOf } from './hatches.tsx'
import { dayScale, niceScale, stackLayers } from './scales.ts'
import { dayAt } from './series.ts'
import looks from './looks.module.css'

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
  /** The screen that a day leads to. */
  open?: ((day: string) => DrillDown | undefined) | undefined
}

const HEIGHT = 176
const TICKS = 3

/** A stacked bar per day. The text below repeats it; place a table beside it. */
export function DailyChart({ label, text, days, series, open }: DailyChartProps) {
  const [caption, hatch] = [useId(), useId()]
  const points = days.map((day, index) => {
    const total = series.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0)
    const isDivided = series.length > 1 && total > 0
    return {
      title: isDivided ? messages.chart.dayTotal(utcDayText(day), total) : utcDayText(day),
      values: series.map(({ name, look, counts }) => {
        const count = counts[index] ?? 0
        return {
          name,
          look,
          value: isDivided ? messages.chart.part(count, total) : numberText(count),
        }
      }),
      open: open?.(day),
    }
  })
  const scale = (width: number) => dayScale(days.length, width - AXES.left)
  const { layers, y } = stackDays(days.length, series)
  return (
    <ChartFigure legend={series} text={text} textId={caption}>
      <ChartSurface
        label={label}
        height={AXES.above + HEIGHT + AXES.below}
        points={points}
        hit={(x, _, width) => dayAt(x - AXES.left, days.length, width - AXES.left)}
        anchor={(index, width) => ({
          x: AXES.left + scale(width).middle(index),
          y: AXES.above + y(layers.at(-1)?.[index]?.[1] ?? 0),
        })}
      >
        {(width, active) => (
          <svg
            width={width}
            height={AXES.above + HEIGHT + AXES.below}
            role="img"
            aria-label={label}
            aria-describedby={caption}
          >
            <Hatches id={hatch} />
            <g transform={`translate(${AXES.left} ${AXES.above})`}>
              <Plot
                days={days}
                series={series}
                width={width - AXES.left}
                hatch={hatch}
                active={active}
              />
            </g>
          </svg>
        )}
      </ChartSurface>
    </ChartFigure>
  )
}

function stackDays(days: number, series: DaySeries[]) {
  const layers = stackLayers(
    series.map(({ counts }) => counts),
    days,
  )
  const highest = Math.max(1, ...(layers.at(-1)?.map(([, top]) => top) ?? []))
  // Counts have no halves: up to 2, each has a tick.
  return { layers, ...niceScale(highest, HEIGHT, Math.min(TICKS, highest)) }
}

type PlotProps = Pick<DailyChartProps, 'days' | 'series'> & {
  width: number
  hatch: string
  active: number | null
}

function Plot({ days, series, width, hatch, active }: PlotProps) {
  const { layers, y, ticks } = stackDays(days.length, series)
  const x = dayScale(days.length, width)
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
      <ValueAxis ticks={ticks} y={y} width={width} />
      {layers.map((layer, index) =>
        layer.map(([bottom, top], day) => (
          <Part
            key={`${index} ${day}`}
            look={series[index]?.look ?? 'main'}
            hatch={hatch}
            x={x.left(day)}
            width={x.band}
            y={y(top)}
            // A count of one stays visible beside a count of a thousand.
            height={top === bottom ? 0 : Math.max(2, y(bottom) - y(top) - (bottom > 0 ? 1 : 0))}
          />
        )),
      )}
      <DayAxis days={days} x={x.middle} y={HEIGHT + 18} width={width} />
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
  return <rect {...place} className={looks[look]} rx={1} fill={hatchOf(look, hatch)} />
}

import { utcDayText } from '../text/dates.ts'
import classes from './axes.module.css'

/** Space around the plot for its axes, in pixels. */
export const AXES = { left: 44, above: 8, below: 24 } as const

let compact: Intl.NumberFormat | null = null

/** `1.2K`: short enough for an axis. */
export function compactText(count: number): string {
  compact ??= new Intl.NumberFormat('en-GB', { notation: 'compact' })
  return compact.format(count)
}

type ValueAxisProps = {
  ticks: readonly number[]
  y: (tick: number) => number
  width: number
  text?: (tick: number) => string
}

/** Lines across the plot with their values on the left. */
export function ValueAxis({ ticks, y, width, text = compactText }: ValueAxisProps) {
  return ticks.map((tick) => (
    <g key={tick} transform={`translate(0 ${y(tick)})`}>
      <line className={classes.line} x2={width} />
      <text x={-8} dy="0.32em" textAnchor="end">
        {text(tick)}
      </text>
    </g>
  ))
}

/** Pixels that a label needs for itself. */
const LABEL_WIDTH = 72

type LabelAxisProps = {
  labels: readonly string[]
  /** The middle of a label. */
  x: (index: number) => number
  y: number
  width: number
}

/** Labels below the plot, as many as fit; always the last one. */
export function LabelAxis({ labels, x, y, width }: LabelAxisProps) {
  const every = labelStep(labels.length, width)
  const last = labels.length - 1
  return labels.map((label, index) => {
    if ((last - index) % every !== 0) return null
    const anchor = index === last ? 'end' : x(index) < LABEL_WIDTH / 2 ? 'start' : 'middle'
    const at = index === last ? width : anchor === 'start' ? 0 : x(index)
    return (
      <text key={`${label} ${index}`} x={at} y={y} textAnchor={anchor}>
        {label}
      </text>
    )
  })
}

/** Every how many labels one is shown. */
export function labelStep(count: number, width: number): number {
  return Math.max(1, Math.ceil(count / Math.max(1, Math.floor(width / LABEL_WIDTH))))
}

/** UTC days below the plot. */
export function DayAxis({ days, ...rest }: Omit<LabelAxisProps, 'labels'> & { days: string[] }) {
  return <LabelAxis labels={days.map(utcDayText)} {...rest} />
}

import { messages } from '../messages.ts'
import { ChartSurface } from './chart-surface.tsx'
import type { DrillDown } from './chart-tooltip.tsx'
import { dayAt } from './series.ts'
import classes from './day-strip.module.css'

export type StripDay = {
  /** UTC: `2026-11-21`. */
  day: string
  /** Told apart by its shape too: whole, hatched, half and empty, or a line. */
  look: 'good' | 'bad' | 'unknown' | 'none'
  /** Shows on pointing at it. */
  title: string
}

type DayStripProps = {
  /** The name of the chart. */
  label: string
  /** All of it in a sentence, which is shown below. */
  text: string
  days: StripDay[]
  /** The screen that a day leads to. */
  open?: ((day: string) => DrillDown | undefined) | undefined
}

const HEIGHT = 32

/** A mark a day, the oldest first. */
export function DayStrip({ label, text, days, open }: DayStripProps) {
  return (
    <figure className={classes.figure}>
      <ChartSurface
        label={label}
        height={HEIGHT}
        points={days.map(({ day, title, look }) => ({
          title,
          values: [],
          open: look === 'none' ? undefined : open?.(day),
        }))}
        hit={(x, _, width) => dayAt(x, days.length, width)}
        anchor={(index, width) => ({ x: ((index + 0.5) / days.length) * width, y: 0 })}
      >
        {(_, active) => (
          <div className={classes.strip} role="img" aria-label={text}>
            {days.map(({ day, look }, index) => (
              <span
                key={day}
                className={classes.day}
                data-look={look}
                data-active={index === active}
              />
            ))}
          </div>
        )}
      </ChartSurface>
      <figcaption className={classes.ends}>
        <span>{text}</span>
        <span>{messages.dayStrip.today}</span>
      </figcaption>
    </figure>
  )
}

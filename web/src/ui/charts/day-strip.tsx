import classes from './day-strip.module.css'
import { messages } from '../messages.ts'

export type StripDay = {
  /** UTC: `2026-11-21`. */
  day: string
  /** Told apart by its shape too: whole, hatched, half and empty, or a line. */
  look: 'good' | 'bad' | 'unknown' | 'none'
  /** Shows on pointing at it. */
  title: string
}

type DayStripProps = {
  /** All of it in a sentence, which is shown below. */
  text: string
  days: StripDay[]
}

/** A mark a day, the oldest first. */
export function DayStrip({ text, days }: DayStripProps) {
  return (
    <figure className={classes.figure}>
      <div className={classes.strip} role="img" aria-label={text}>
        {days.map(({ day, look, title }) => (
          <span key={day} className={classes.day} data-look={look} title={title} />
        ))}
      </div>
      <figcaption className={classes.ends}>
        <span>{text}</span>
        <span>{messages.dayStrip.today}</span>
      </figcaption>
    </figure>
  )
}

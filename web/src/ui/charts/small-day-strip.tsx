import type { StripDay } from './day-strip.tsx'
import classes from './small-day-strip.module.css'

/** A mark a day without words, for cards; the sentence is for screen readers. */
export function SmallDayStrip({
  text,
  days,
  value,
}: {
  text: string
  days: StripDay[]
  /** At its end: the days as one number. */
  value: string | null
}) {
  return (
    <div className={classes.line}>
      <div className={classes.strip} role="img" aria-label={text}>
        {days.map(({ day, look, title }) => (
          <span key={day} data-look={look} title={title} />
        ))}
      </div>
      {value !== null && <span>{value}</span>}
    </div>
  )
}

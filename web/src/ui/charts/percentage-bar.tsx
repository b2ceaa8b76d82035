import classes from './percentage-bar.module.css'
import { messages } from '../messages.ts'

/** A part of a whole, in percent and as a bar beside it. */
export function PercentageBar({ part, whole }: { part: number; whole: number }) {
  const percent = whole > 0 ? (part / whole) * 100 : 0
  return (
    <span className={classes.share}>
      <span>{messages.percentage(percent)}</span>
      <span className={classes.bar} aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
    </span>
  )
}

import classes from './progress-bar.module.css'
import type { Tone } from './status.tsx'

type ProgressBarProps = {
  /** The name of the task, for screen readers. */
  label: string
  done: number
  total: number
  tone?: Tone
  size?: 'thin' | 'thick'
}

/** A progress bar. The text beside it repeats the value. */
export function ProgressBar({ label, done, total, tone, size = 'thin' }: ProgressBarProps) {
  const percent = total > 0 ? Math.min(100, Math.floor((done / total) * 100)) : 0
  return (
    <div
      className={classes.bar}
      data-tone={tone}
      data-size={size}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <div
        className={classes.done}
        style={{ width: `${total > 0 ? Math.min(100, (done / total) * 100) : 0}%` }}
      />
    </div>
  )
}

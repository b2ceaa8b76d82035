import { messages } from '../messages.ts'
import classes from './change.module.css'
import { VisuallyHidden } from './visually-hidden.tsx'

/** Changes from which a share says less than “many times”. */
const MAX_PERCENT = 999

type ChangeProps = {
  now: number
  /** The number of the period before; without any, nothing is compared. */
  before: number
  /** That period: `the 30 days before`. */
  period: string
}

/** How much a number differs from that of the period before: `▲ 4%`. */
export function Change({ now, before, period }: ChangeProps) {
  if (before === 0) return null
  const percent = Math.round(((now - before) / before) * 100)
  if (Math.abs(percent) > MAX_PERCENT) return null
  const sign = percent === 0 ? '=' : percent > 0 ? '▲' : '▼'
  const share = Math.abs(percent)
  return (
    <small className={classes.change} title={messages.change.text(percent, period)}>
      <span aria-hidden="true">{messages.change.short(sign, share)}</span>
      <VisuallyHidden>{messages.change.text(percent, period)}</VisuallyHidden>
    </small>
  )
}

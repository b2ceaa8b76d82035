import { Icon } from '../brand/icons.tsx'
import classes from './status.module.css'

/** `info` is for work in progress; `unknown` for checks that failed. */
export type Tone = 'good' | 'warn' | 'bad' | 'unknown' | 'info'

/** A status as an icon and a word, never by colour alone. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={classes.status} data-tone={tone}>
      <Icon name={tone} size={16} />
      {children}
    </span>
  )
}

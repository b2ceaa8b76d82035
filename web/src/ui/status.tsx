import { Icon } from './icons.tsx'
import classes from './status.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'unknown'

/** How something stands, as an icon and a word: never by colour alone. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={classes.status} data-tone={tone}>
      <Icon name={tone} size={16} />
      {children}
    </span>
  )
}

import type { StreamState } from '../../change-events.ts'
import classes from './connection-status.module.css'

const WORDS: Record<StreamState, string> = { live: 'Live', connecting: 'Connecting', broken: 'Reconnecting' }

/** Whether what is shown follows what happens. */
export function ConnectionStatus({ link }: { link: StreamState }) {
  return (
    <span className={classes.live} data-link={link} role="status">
      <span className={classes.dot} />
      {WORDS[link]}
    </span>
  )
}

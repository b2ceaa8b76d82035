import type { StreamState } from '../../change-events.ts'
import classes from './connection-status.module.css'
import { messages } from '../messages.ts'

/** Shows whether the screen receives live updates. */
export function ConnectionStatus({ link }: { link: StreamState }) {
  return (
    <span className={classes.live} data-link={link} role="status">
      <span className={classes.dot} />
      {messages.connection[link]}
    </span>
  )
}

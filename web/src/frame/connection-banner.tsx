import { useIsReachable } from '../reachability.ts'
import { signInPrompt, useIsSessionExpired } from '../session.ts'
import { Button } from '../ui/actions/button.tsx'
import classes from './connection-banner.module.css'
import { connection as messages } from './messages.ts'

/** Says over any screen that the service does not answer, or that the session has ended. */
export function ConnectionBanner() {
  const isReachable = useIsReachable()
  const isExpired = useIsSessionExpired()
  return (
    <div className={classes.place} role="status">
      {!isReachable && (
        <p className={classes.banner}>
          <span className={classes.dot} />
          {messages.reconnecting}
        </p>
      )}
      {isReachable && isExpired && (
        <p className={classes.banner} data-repeats-dialog>
          {messages.expired}
          <Button size="small" kind="primary" onClick={() => void signInPrompt.ask(true)}>
            {messages.signIn}
          </Button>
        </p>
      )}
    </div>
  )
}

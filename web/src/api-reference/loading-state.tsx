import type { Loading } from './load-document.ts'
import { loading as messages } from './messages.ts'
import classes from './reference-page.module.css'

/** Stands where the operations will be, or explains why they are not there. */
export function LoadingState({ loading }: { loading: Loading }) {
  if (loading.state !== 'failed') {
    return (
      <p className={classes.state} role="status">
        {messages.text}
      </p>
    )
  }
  return (
    <div className={classes.state} role="alert">
      <p>{messages.failed}</p>
      <button type="button" className={classes.retry} onClick={loading.retry}>
        {messages.retry}
      </button>
    </div>
  )
}

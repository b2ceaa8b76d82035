import classes from './method.module.css'

const SHORT: Record<string, string> = { DELETE: 'DEL', OPTIONS: 'OPT', PATCH: 'PATCH' }

/** An HTTP method, in a column of its own in lists. */
export function Method({ method, isShort = false }: { method: string; isShort?: boolean }) {
  return (
    <span className={classes.method} data-method={method} data-short={isShort}>
      {isShort ? (SHORT[method] ?? method) : method}
    </span>
  )
}

import { Notice } from './notice.tsx'
import classes from './loading.module.css'

/** A placeholder while data loads, announced to screen readers. */
export function Loading({ lines, children }: { lines: number; children: string }) {
  return (
    <div className={classes.waiting} role="status">
      <span>{children}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={classes.line} />
      ))}
    </div>
  )
}

type FetchingProps = { there: unknown; error: Error | null; lines: number; children: string }

/** Shows a placeholder while data loads, or the error. Renders nothing once the data is there. */
export function LoadingOrError({ there, error, lines, children }: FetchingProps) {
  if (error) return <Notice tone="bad">{error.message}</Notice>
  return there ? null : <Loading lines={lines}>{children}</Loading>
}

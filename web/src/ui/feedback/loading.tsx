import { Notice } from './notice.tsx'
import classes from './loading.module.css'

/** Holds the place of what is being fetched, and says so to those who cannot see it. */
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

/** Stands where something will be: that it is being fetched, or why it could not be. Nothing once it is there. */
export function LoadingOrError({ there, error, lines, children }: FetchingProps) {
  if (error) return <Notice tone="bad">{error.message}</Notice>
  return there ? null : <Loading lines={lines}>{children}</Loading>
}

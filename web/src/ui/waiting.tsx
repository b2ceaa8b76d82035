import classes from './waiting.module.css'

/** Holds the place of what is being fetched, and says so to those who cannot see it. */
export function Waiting({ lines, children }: { lines: number; children: string }) {
  return (
    <div className={classes.waiting} role="status">
      <span>{children}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={classes.line} />
      ))}
    </div>
  )
}

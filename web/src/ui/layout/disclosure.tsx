import type { ReactNode } from 'react'
import classes from './disclosure.module.css'

/** Rarely needed content, closed at first. */
export function Disclosure({ summary, children }: { summary: ReactNode; children: ReactNode }) {
  return (
    <details className={classes.details}>
      <summary>{summary}</summary>
      <div className={classes.content}>{children}</div>
    </details>
  )
}

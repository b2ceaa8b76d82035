import type { ReactNode } from 'react'
import classes from './print-only.module.css'

/** Words that only a printed page needs, such as when it was made. */
export function PrintOnly({ children }: { children: ReactNode }) {
  return <p className={classes.paper}>{children}</p>
}

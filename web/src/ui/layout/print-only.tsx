import type { ReactNode } from 'react'
import classes from './print-only.module.css'

/** Text that only a printed page needs, such as its date. */
export function PrintOnly({ children }: { children: ReactNode }) {
  return <p className={classes.paper}>{children}</p>
}

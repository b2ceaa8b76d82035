import type { ReactNode } from 'react'
import classes from './bullet-list.module.css'

/** Sentences with a dot before each, or a number where their order matters. */
export function BulletList({ ordered = false, children }: { ordered?: boolean; children: ReactNode }) {
  return ordered ? <ol className={classes.points}>{children}</ol> : <ul className={classes.points}>{children}</ul>
}

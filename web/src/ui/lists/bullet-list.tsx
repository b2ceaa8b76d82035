import type { ReactNode } from 'react'
import classes from './bullet-list.module.css'

/** A bulleted list of sentences, or a numbered one where the order matters. */
export function BulletList({
  ordered = false,
  children,
}: {
  ordered?: boolean
  children: ReactNode
}) {
  return ordered ? (
    <ol className={classes.points}>{children}</ol>
  ) : (
    <ul className={classes.points}>{children}</ul>
  )
}

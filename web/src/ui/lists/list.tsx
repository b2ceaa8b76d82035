import type { ReactNode } from 'react'
import classes from './list.module.css'

/** A list with one row per object. */
export function List({ children }: { children: ReactNode }) {
  return (
    <ul className={classes.list} data-rows>
      {children}
    </ul>
  )
}

export function ListItem({
  title,
  action,
  children,
}: {
  title: ReactNode
  action?: ReactNode
  children: ReactNode
}) {
  return (
    <li>
      <div className={classes.words}>
        <strong>{title}</strong>
        <div>{children}</div>
      </div>
      {action}
    </li>
  )
}

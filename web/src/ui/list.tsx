import type { ReactNode } from 'react'
import classes from './list.module.css'

/** Things of one kind, a row each. */
export function List({ children }: { children: ReactNode }) {
  return <ul className={classes.list}>{children}</ul>
}

export function ListItem({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  return (
    <li>
      <div className={classes.words}>
        <strong>{title}</strong>
        <span>{children}</span>
      </div>
      {action}
    </li>
  )
}

import type { ReactNode } from 'react'
import classes from './empty.module.css'
import { Icon, type IconName } from '../brand/icons.tsx'

/** Replaces an empty list: what it will show, and how to add the first item. */
export function Empty({
  icon,
  title,
  children,
}: {
  icon: IconName
  title: string
  children: ReactNode
}) {
  return (
    <div className={classes.empty}>
      <span className={classes.icon}>
        <Icon name={icon} size={24} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  )
}

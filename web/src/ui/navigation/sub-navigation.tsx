import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import classes from './sub-navigation.module.css'

/** Navigation between the screens of one object or module, below the heading. */
export function SubNavigation({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label}>
      <ul className={classes.views}>{children}</ul>
    </nav>
  )
}

export const SubNavigationLink = createLink(function View({
  children,
  ...rest
}: ComponentProps<'a'>) {
  return (
    <li>
      <a {...rest} className={classes.view}>
        {children}
      </a>
    </li>
  )
})

/** Keeps the place of a link that may follow, so that what is below does not move then. */
export function SubNavigationOutline({ label }: { label: string }) {
  return (
    <li className={classes.outline} aria-hidden>
      <span className={classes.view}>{label}</span>
    </li>
  )
}

/** Marks a link as current only on its exact path, whatever the query parameters. */
export const EXACT_PATH = { exact: true, includeSearch: false } as const

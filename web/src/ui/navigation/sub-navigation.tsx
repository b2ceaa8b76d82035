import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import classes from './sub-navigation.module.css'

/** The screens that belong to one thing, below its heading. */
export function SubNavigation({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label}>
      <ul className={classes.views}>{children}</ul>
    </nav>
  )
}

export const SubNavigationLink = createLink(function View({ children, ...rest }: ComponentProps<'a'>) {
  return (
    <li>
      <a {...rest} className={classes.view}>
        {children}
      </a>
    </li>
  )
})

/** Only the very screen is the one that is looked at, whatever stands behind its `?`. */
export const EXACT_PATH = { exact: true, includeSearch: false } as const

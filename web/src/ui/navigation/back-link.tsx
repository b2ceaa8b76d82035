import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import classes from './back-link.module.css'
import { Icon } from '../brand/icons.tsx'

/** The way up, above the heading of a screen that belongs to another. */
export const BackLink = createLink(function BackLink({ children, ...rest }: ComponentProps<'a'>) {
  return (
    <a {...rest} className={classes.back}>
      <Icon name="back" size={14} />
      {children}
    </a>
  )
})

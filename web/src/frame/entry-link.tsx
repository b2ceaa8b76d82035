import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

/**
 * A link of a navigation. A screen belongs to an entry by more than its path, which is all that the
 * router knows.
 */
export const EntryLink = createLink(function Entry({
  isCurrent,
  children,
  ...rest
}: ComponentProps<'a'> & { isCurrent: boolean }) {
  return (
    <a {...rest} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  )
})

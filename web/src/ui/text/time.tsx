import type { ReactNode } from 'react'
import { tooltipText } from './dates.ts'

type TimeProps = {
  /** ISO 8601, as the API returns it. */
  at: string
  /** Replaces the exact time when the instant is known less exactly. */
  title?: string
  children: ReactNode
}

/** Any text for an instant. Hovering shows the exact time, in the reader's time zone and in UTC. */
export function Time({ at, title = tooltipText(new Date(at)), children }: TimeProps) {
  return (
    <time dateTime={at} title={title}>
      {children}
    </time>
  )
}

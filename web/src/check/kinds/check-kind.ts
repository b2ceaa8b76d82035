import type { ReactNode } from 'react'
import type { Verdict } from './verdict.ts'

/** One kind of check, as the screens know it: how it is asked, what its result says, and how that looks. */
export type CheckKind<T = unknown> = {
  /** Its name in the API. */
  name: 'dns' | 'ssl' | 'blacklist' | 'dmarc'
  title: string
  /** Path and query in the API. */
  path(target: string): string
  /** The same as events, where answers come one by one. */
  events?(target: string): string
  verdict(data: T): Verdict
  /** What to do and what was found, below the verdict. */
  View(this: void, props: { data: T }): ReactNode
}

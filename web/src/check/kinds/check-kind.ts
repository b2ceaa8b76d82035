import type { ReactNode } from 'react'
import type { Verdict } from './verdict.ts'

/** One kind of check in the dashboard: its request, its verdict, and its view. */
export type CheckKind<T = unknown> = {
  /** Its name in the API. */
  name: 'dns' | 'ssl' | 'blacklist' | 'dmarc'
  title: string
  /** Path and query in the API. */
  path(target: string): string
  /** The same as events, where answers come one by one. */
  events?(target: string): string
  verdict(data: T): Verdict
  /** Actions and records, below the verdict. */
  View(this: void, props: { data: T }): ReactNode
}

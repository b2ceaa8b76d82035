/** Requests of one key in a day (UTC), over all instances. */
export const QUOTAS = {
  check: 50_000,
  reports: 10_000,
  'check-block': 2_000,
  blacklist: 500,
  report: 50_000,
  'bulk-report': 2_000,
  'clear-address': 1_000,
} as const

export type Endpoint = keyof typeof QUOTAS

/** The requests of one key to one endpoint on one day. */
export type Counter = {
  tokenId: string
  endpoint: Endpoint
  day: number
  /** Of all instances, when they were last written; null before. */
  stored: number | null
  /** Of this instance since then. */
  unwritten: number
}

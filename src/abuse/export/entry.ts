import type { Confidence } from '../scoring/score.ts'

/** One address of the list, as people see it. */
export type Entry = {
  /** `192.0.2.1`, or a /64 as `2001:db8::/64`. */
  address: string
  score: number
  confidence: Confidence
  services: string[]
  networks: number
  firstReportedAt: Date
  lastReportedAt: Date
  /** The end of a ban, on the fleet list. */
  expiresAt?: Date | undefined
}

export type ListFacts = {
  version: number
  generatedAt: Date
  pageUrl: string
  /** The name of sets and variables, so that a machine can have both lists. */
  name?: 'portreeve' | 'portreeve_fleet' | undefined
}

export type Format = {
  contentType: string
  /** The file, in pieces of some thousand lines. */
  render(list: ListFacts, entries: Entry[]): Iterable<string>
}

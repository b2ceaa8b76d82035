import type { Db } from '../../store/database.ts'
import { daysLeft } from '../certificates/messages.ts'
import {
  availabilityOf,
  availableSince,
  dailyStatesOf,
  periodsUntil,
  type Availability,
  type DayState,
} from './availability.ts'
import { readLastDays, type LastDays, type Period } from './store.ts'

/** The last days of a host in a few numbers, for lists. */
export type HostSummary = {
  availability: Availability
  /** State on each UTC day, oldest first. */
  days: DayState[]
  /** Of its certificates with a problem, or else of all, the one that expires first. */
  certificate: { state: string; daysRemaining: number } | null
}

export async function summarizeHost(db: Db, hostId: string): Promise<HostSummary> {
  const now = new Date()
  return createSummarizer(now)(await readLastDays(db, hostId, availableSince(now)))
}

/** Summarizes hosts at one time. Those with the same last days share their summary. */
export function createSummarizer(now: Date): (row: LastDays) => HostSummary {
  const known = new Map<string, HostSummary>()
  return ({ states, certificate }) => {
    const key = `${states} ${certificate}`
    let summary = known.get(key)
    if (!summary) {
      summary = { ...summarizeStates(states, now), certificate: certificateOf(certificate, now) }
      known.set(key, summary)
    }
    return summary
  }
}

function summarizeStates(states: string | null, now: Date) {
  const periods = periodsUntil(JSON.parse(`[${states ?? ''}]`) as [Period, number][], now)
  return { availability: availabilityOf(periods), days: dailyStatesOf(periods, now) }
}

function certificateOf(text: string | null, now: Date): HostSummary['certificate'] {
  const [, validTo, state] = text?.split(' ') ?? []
  if (validTo === undefined || state === undefined) return null
  return { state, daysRemaining: daysLeft({ validTo }, now) }
}

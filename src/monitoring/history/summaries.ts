import type { Db } from '../../store/database.ts'
import { daysLeft } from '../certificates/messages.ts'
import { listFirstCertificates } from '../facts/store.ts'
import {
  availabilityOf,
  availableSince,
  dailyStatesOf,
  periodsUntil,
  type Availability,
  type DayState,
} from './availability.ts'
import { listPeriodsSince, type Period } from './store.ts'

/** The last days of a host in a few numbers, for lists. */
export type HostSummary = {
  availability: Availability
  /** State on each UTC day, oldest first. */
  days: DayState[]
  /** Of its certificates with a problem, or else of all, the one that expires first. */
  certificate: { state: string; daysRemaining: number } | null
}

/**
 * Summarizes the last days of these hosts; the result looks one up by its ID. Hosts with the same
 * last days share their summary.
 */
export async function summarizeHosts(
  db: Db,
  hostIds: string[],
  now = new Date(),
): Promise<(hostId: string) => HostSummary> {
  const [periods, certificates] = await Promise.all([
    listPeriodsSince(db, hostIds, availableSince()),
    listFirstCertificates(db, hostIds),
  ])
  const periodsOf = new Map(periods.map((row) => [row.hostId, row.periods]))
  const certificateOf = new Map(certificates.map((row) => [row.hostId, row]))
  const known = new Map<string, HostSummary>()
  return (hostId) => {
    const own = periodsOf.get(hostId) ?? '[]'
    const first = certificateOf.get(hostId)
    const certificate = first ? { state: first.state, daysRemaining: daysLeft(first, now) } : null
    const key = `${own} ${certificate?.state} ${certificate?.daysRemaining}`
    const summary = known.get(key) ?? { ...summarize(own, now), certificate }
    known.set(key, summary)
    return summary
  }
}

function summarize(text: string, now: Date): Pick<HostSummary, 'availability' | 'days'> {
  const periods = periodsUntil(JSON.parse(text) as [Period, number][], now)
  return { availability: availabilityOf(periods), days: dailyStatesOf(periods, now) }
}

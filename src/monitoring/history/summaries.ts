import type { Db } from '../../store/database.ts'
import { daysLeft } from '../certificates/messages.ts'
import { listFirstCertificates } from '../facts/store.ts'
import {
  availabilityOf,
  availableSince,
  dailyStatesOf,
  type Availability,
  type DayState,
} from './availability.ts'
import { listPeriodsSince } from './store.ts'

/** The last days of a host in a few numbers, for lists. */
export type HostSummary = {
  availability: Availability
  /** State on each UTC day, oldest first. */
  days: DayState[]
  /** Of its certificates with a problem, or else of all, the one that expires first. */
  certificate: { state: string; daysRemaining: number } | null
}

/** Summarizes the last days of these hosts; the result looks one up by its ID. */
export async function summarizeHosts(
  db: Db,
  hostIds: string[],
  now = new Date(),
): Promise<(hostId: string) => HostSummary> {
  const [periods, certificates] = await Promise.all([
    listPeriodsSince(db, hostIds, availableSince()),
    listFirstCertificates(db, hostIds),
  ])
  const periodsOf = Map.groupBy(periods, ({ hostId }) => hostId)
  const certificateOf = new Map(certificates.map((row) => [row.hostId, row]))
  return (hostId) => {
    const own = periodsOf.get(hostId) ?? []
    const first = certificateOf.get(hostId)
    return {
      availability: availabilityOf(own),
      days: dailyStatesOf(own, now),
      certificate: first ? { state: first.state, daysRemaining: daysLeft(first, now) } : null,
    }
  }
}

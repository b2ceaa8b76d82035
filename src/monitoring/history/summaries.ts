import type { Db } from '../../store/database.ts'
import { DAY_MS } from '../../time.ts'
import { daysLeft } from '../certificates/messages.ts'
import { listFirstCertificates } from '../facts/store.ts'
import { AVAILABILITY_DAYS } from '../limits.ts'
import { availabilityOf, type Availability } from './availability.ts'
import { listDays, type Period } from './store.ts'

/** The last days of a host in a few numbers, for lists. */
export type HostSummary = {
  availability: Availability
  /** State on each UTC day, oldest first; `none` before the first check. */
  days: (Period | 'none')[]
  /** Of its certificates with a problem, or else of all, the one that expires first. */
  certificate: { state: string; daysRemaining: number } | null
}

/** Summarizes the last days of these hosts; the result looks one up by its ID. */
export async function summarizeHosts(
  db: Db,
  hostIds: string[],
  now = new Date(),
): Promise<(hostId: string) => HostSummary> {
  const days = lastDays(now)
  const [availability, dayRows, certificates] = await Promise.all([
    availabilityOf(db, hostIds),
    listDays(db, hostIds, new Date(`${days[0]}T00:00:00Z`)),
    listFirstCertificates(db, hostIds),
  ])
  const states = new Map(dayRows.map((row) => [`${row.hostId} ${row.day}`, row.state]))
  const certificateOf = new Map(certificates.map((row) => [row.hostId, row]))
  return (hostId) => {
    const first = certificateOf.get(hostId)
    return {
      availability: availability(hostId),
      days: days.map((day) => states.get(`${hostId} ${day}`) ?? 'none'),
      certificate: first ? { state: first.state, daysRemaining: daysLeft(first, now) } : null,
    }
  }
}

/** The UTC days of the availability, `YYYY-MM-DD`, today last. */
function lastDays(now: Date): string[] {
  return Array.from({ length: AVAILABILITY_DAYS }, (_, index) =>
    new Date(now.getTime() - (AVAILABILITY_DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}

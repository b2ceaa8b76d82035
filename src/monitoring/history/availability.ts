import type { Db } from '../../store/database.ts'
import { AVAILABILITY_DAYS } from '../limits.ts'
import { sumPeriods } from './store.ts'
import { DAY_MS } from '../../time.ts'

/** `percent` (0 to 100) is the share of the known time without a critical or major listing. */
export type Availability = {
  days: number
  percent: number | null
  cleanSeconds: number
  listedSeconds: number
  unknownSeconds: number
}

/** Start of the period over which availability is computed. */
export function availableSince(): Date {
  return new Date(Date.now() - AVAILABILITY_DAYS * DAY_MS)
}

/** Computes the availability of these hosts; the result looks one up by its ID. */
export async function availabilityOf(
  db: Db,
  hostIds: string[],
): Promise<(hostId: string) => Availability> {
  const rows = await sumPeriods(db, hostIds, availableSince())
  const sums = new Map(rows.map((row) => [`${row.hostId} ${row.state}`, row.seconds]))
  return (hostId) => {
    const secondsOf = (state: string) => Math.round(sums.get(`${hostId} ${state}`) ?? 0)
    const [cleanSeconds, listedSeconds] = [secondsOf('clean'), secondsOf('listed')]
    const known = cleanSeconds + listedSeconds
    return {
      days: AVAILABILITY_DAYS,
      percent: known > 0 ? Math.floor((cleanSeconds / known) * 100_000) / 1000 : null,
      cleanSeconds,
      listedSeconds,
      unknownSeconds: secondsOf('unknown'),
    }
  }
}

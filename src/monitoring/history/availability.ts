import type { Db } from '../../store/database.ts'
import { AVAILABILITY_DAYS } from '../limits.ts'
import { sumPeriods } from './store.ts'

/** How a host fared in the last days. `percent` is the share of the known time without a critical or major listing. */
export type Availability = {
  days: number
  percent: number | null
  cleanSeconds: number
  listedSeconds: number
  unknownSeconds: number
}

/** Since when the availability is counted. */
export function availableSince(): Date {
  return new Date(Date.now() - AVAILABILITY_DAYS * 86_400_000)
}

/** The availability of each of these hosts, by id. */
export async function availabilityOf(db: Db, hostIds: string[]): Promise<(hostId: string) => Availability> {
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

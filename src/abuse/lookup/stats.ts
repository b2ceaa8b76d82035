import type { Db } from '../../store/database.ts'
import { GROUPS, SERVICES, serviceOf } from '../services.ts'
import {
  countNetworksSince,
  countStates,
  sumReports,
  sumReportsPerDay,
} from '../attack-list.sql.ts'
import { DAY_MS, HOUR_MS, startOfDay } from '../../time.ts'

export type AbuseStats = Awaited<ReturnType<typeof readStats>>

/** Milliseconds for which statistics are cached. */
export const STATS_CACHE_MS = 5_000
const DAYS_SHOWN = 30

/** The network's statistics, read at most every few seconds. */
export function createStats(db: Db, clock: () => number): () => Promise<AbuseStats> {
  let [stats, readAt]: [Promise<AbuseStats> | null, number] = [null, 0]
  return () => {
    if (stats && Math.abs(clock() - readAt) < STATS_CACHE_MS) return stats
    const reading = readStats(db, clock())
    ;[stats, readAt] = [reading, clock()]
    reading.catch(() => (stats = null))
    return reading
  }
}

/** Accepted reports; the last day and the last seven are counted in whole hours. */
async function readStats(db: Db, now: number) {
  const hoursBack = (hours: number) =>
    new Date(Math.floor(now / HOUR_MS) * HOUR_MS - hours * HOUR_MS)
  const [services, states, perDay, reporters7d] = await Promise.all([
    sumReports(db, { day: hoursBack(24), week: hoursBack(7 * 24) }),
    countStates(db),
    sumReportsPerDay(db, new Date(startOfDay(now) - (DAYS_SHOWN - 1) * DAY_MS)),
    countNetworksSince(db, new Date(now - 7 * DAY_MS)),
  ])
  const sum = (keyOf: (row: (typeof services)[number]) => number) =>
    services.reduce((all, row) => all + keyOf(row), 0)
  const inState = (state: string) => states.find((row) => row.state === state)?.count ?? 0
  return {
    totalReports: sum(({ count }) => count),
    reports24h: sum(({ lastDay }) => lastDay),
    reports7d: sum(({ lastWeek }) => lastWeek),
    listedIps: inState('listed'),
    watchlistIps: inState('watchlist'),
    reporters7d,
    byService: services.map(({ service, count }) => ({ service, count })),
    byGroup: sumGroups(services),
    perDay,
  }
}

function sumGroups(
  services: { service: string; count: number }[],
): { group: string; count: number }[] {
  const byGroup = Map.groupBy(services, ({ service }) => serviceOf(service).group)
  const sums = GROUPS.map((group) => ({
    group,
    count: (byGroup.get(group) ?? []).reduce((sum, { count }) => sum + count, 0),
  }))
  return sums.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count)
}

/** The machine-readable list of services that can be reported. */
export const SERVICE_LIST = {
  services: SERVICES.map(({ id, label, group, defaultPorts }) => ({
    id,
    label,
    group,
    defaultPorts,
  })),
  groups: GROUPS,
}

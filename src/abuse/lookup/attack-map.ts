import { invalidField } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { countAttackersBySystem, type SystemCountRow } from '../attack-list.sql.ts'

export type AttackMap = Awaited<ReturnType<typeof readMap>>

/** Milliseconds for which a map is cached. */
const MAP_CACHE_MS = 15_000

/** Days of the map by default, and days for which it is stored. */
const MAP_DAYS = 7
const MAP_RETENTION_DAYS = 30

/** Networks that the map shows one by one. */
const MAX_MAP_NETWORKS = 24

/**
 * Reads which networks attacked which services: in the last seven days, or on one of the last
 * thirty. Each map is read at most once per cache time, whoever asks.
 */
export function createAttackMap(db: Db, clock: () => number) {
  const cached = new Map<string, { map: Promise<AttackMap>; readAt: number }>()
  return (day?: string): Promise<AttackMap> => {
    const range = rangeOf(day, clock())
    const key = `${range.from} ${range.to}`
    const known = cached.get(key)
    if (known && Math.abs(clock() - known.readAt) < MAP_CACHE_MS) return known.map
    // The days of a month, and their maps of yesterday.
    if (cached.size > MAP_RETENTION_DAYS + 2) cached.clear()
    const map = readMap(db, range)
    cached.set(key, { map, readAt: clock() })
    map.catch(() => cached.delete(key))
    return map
  }
}

/** @throws Fault `invalid_request` for a day of which nothing is stored */
function rangeOf(day: string | undefined, now: number): { from: string; to: string } {
  const dayBefore = (days: number) => isoDay(now - days * DAY_MS)
  if (day === undefined) return { from: dayBefore(MAP_DAYS - 1), to: dayBefore(0) }
  if (day <= dayBefore(0) && day > dayBefore(MAP_RETENTION_DAYS)) return { from: day, to: day }
  const message = `must be one of the last ${MAP_RETENTION_DAYS} days`
  throw invalidField('day', message)
}

async function readMap(db: Db, range: { from: string; to: string }) {
  const rows = await countAttackersBySystem(db, range, MAX_MAP_NETWORKS)
  const shown = Map.groupBy(
    rows.filter(({ network }) => network !== null),
    ({ network }) => network ?? '',
  )
  const rest = rows.filter(({ network }) => network === null)
  return {
    ...range,
    reports: sumOf(rows),
    networks: [...shown].map(([network, those]) => ({
      network,
      name: those[0]?.name ?? '',
      reports: sumOf(those),
      services: servicesOf(those),
    })),
    others: { networks: rest[0]?.networks ?? 0, reports: sumOf(rest), services: servicesOf(rest) },
  }
}

const sumOf = (rows: SystemCountRow[]) => rows.reduce((sum, { reports }) => sum + reports, 0)

function servicesOf(rows: SystemCountRow[]) {
  return rows
    .map(({ service, reports }) => ({ service, count: reports }))
    .toSorted((one, other) => other.count - one.count || (one.service < other.service ? -1 : 1))
}

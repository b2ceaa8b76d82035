import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, HOUR_MS } from '../../time.ts'
import type { Exports } from '../export/exports.ts'
import { listFleetIndicators, listRecentChanges } from './store.ts'

/** An address that a list has, or had until lately, for platforms that share threat intelligence. */
export type Indicator = {
  address: string
  services: string[]
  /** 0 to 100. */
  confidence: number
  firstSeen: Date
  lastSeen: Date
  /** When this version of the indicator was issued. */
  issuedAt: Date
  validUntil: Date
  /** It is not listed any more. */
  isRevoked: boolean
}

/** Indicators of a list, oldest issue first. */
export type IndicatorList = {
  /** Changes whenever the indicators do. */
  version: string
  indicators: Indicator[]
}

export type Indicators = {
  shared(): Promise<IndicatorList>
  fleet(workspaceId: string): Promise<IndicatorList>
}

/**
 * While its address stays listed, an indicator is issued again after this time, so that it does not
 * expire at those who only ask for what is new.
 */
const REISSUE_MS = 3 * DAY_MS
const VALID_MS = 7 * DAY_MS
/** How long a computed list is used. */
const CACHE_MS = 60_000

export function createIndicators(
  db: Kysely<DB>,
  exports: Exports,
  clock: () => number,
): Indicators {
  let cached: { version: number; until: number; list: Promise<IndicatorList> } | undefined

  return {
    shared() {
      const { version } = exports.current()
      const now = clock()
      if (cached?.version === version && now < cached.until) return cached.list
      const list = readShared(db, exports, now)
      list.catch(() => (cached = undefined))
      cached = { version, until: now + CACHE_MS, list }
      return list
    },
    async fleet(workspaceId) {
      const rows = await listFleetIndicators(db, workspaceId)
      const indicators = rows.map((row) => ({ ...row, confidence: row.isRevoked ? 0 : 100 }))
      const newest = indicators.at(-1)?.issuedAt.getTime() ?? 0
      return { version: `${newest}-${indicators.length}`, indicators }
    },
  }
}

async function readShared(db: Kysely<DB>, exports: Exports, now: number): Promise<IndicatorList> {
  const { version, entries } = await exports.list()
  const changes = await listRecentChanges(db, version)
  const changedAt = new Map(changes.map((change) => [change.address, change]))
  const listed = entries.map((entry): Indicator => {
    const firstSeen = floorHour(entry.firstReportedAt)
    // Changes are known for a week. An address that was listed before has been reissued since.
    const since = changedAt.get(entry.address)?.at.getTime() ?? firstSeen.getTime()
    const issuedAt = since + Math.max(0, Math.floor((now - since) / REISSUE_MS)) * REISSUE_MS
    return {
      address: entry.address,
      services: entry.services,
      confidence: Math.round(entry.score),
      firstSeen,
      lastSeen: floorHour(entry.lastReportedAt),
      issuedAt: new Date(issuedAt),
      validUntil: new Date(issuedAt + VALID_MS),
      isRevoked: false,
    }
  })
  const present = new Set(entries.map(({ address }) => address))
  const revoked = changes
    .filter(({ address, listed: isListed }) => !isListed && !present.has(address))
    .map(({ address, at, firstSeen, lastSeen }) => ({
      address,
      services: [],
      confidence: 0,
      firstSeen: floorHour(firstSeen ?? at),
      lastSeen: floorHour(lastSeen ?? at),
      issuedAt: at,
      validUntil: at,
      isRevoked: true,
    }))
  const indicators = [...listed, ...revoked].toSorted(
    (a, b) => a.issuedAt.getTime() - b.issuedAt.getTime() || (a.address < b.address ? -1 : 1),
  )
  const newest = indicators.at(-1)?.issuedAt.getTime() ?? 0
  return { version: `${version}-${newest}`, indicators }
}

/** The exact time of a report would identify a line of a server’s log. */
const floorHour = (date: Date) => new Date(Math.floor(date.getTime() / HOUR_MS) * HOUR_MS)

import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, HOUR_MS } from '../../time.ts'
import type { Exports } from '../../abuse/export/exports.ts'
import { findFleet } from '../../fleet/fleet.sql.ts'
import { listFleetIndicators, listRecentChanges } from './indicators.sql.ts'

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

/** Indicators of a list, by the time of their issue and by address. */
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
/**
 * While a fleet list changes, a computed one is used this many times as long as reading it took, so
 * that requests for its pages read it seldom.
 */
const USES_OF_TIME_TO_READ = 20
/** Indicators of fleet lists in memory: some 60 MB. */
const MAX_CACHED_INDICATORS = 250_000

type CachedFleet = { cursor: number; until: number; freshUntil: number; list: IndicatorList }

export function createIndicators(
  db: Kysely<DB>,
  exports: Exports,
  clock: () => number,
): Indicators {
  let cached: { version: number; until: number; list: Promise<IndicatorList> } | undefined
  const fleets = new LRUCache<string, CachedFleet>({ maxSize: MAX_CACHED_INDICATORS })
  const reading = new Map<string, Promise<IndicatorList>>()

  async function readFleet(workspaceId: string, cursor: number): Promise<IndicatorList> {
    const began = performance.now()
    const rows = await listFleetIndicators(db, workspaceId)
    const indicators = rows
      .map((row) => ({ ...row, confidence: row.isRevoked ? 0 : 100 }))
      .toSorted(byIssue)
    const newest = indicators.at(-1)?.issuedAt.getTime() ?? 0
    const list = { version: `${newest}-${indicators.length}`, indicators }
    const ended = performance.now()
    const until = ended + CACHE_MS
    const freshUntil = ended + (ended - began) * USES_OF_TIME_TO_READ
    fleets.set(workspaceId, { cursor, until, freshUntil, list }, { size: 1 + indicators.length })
    return list
  }

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
      const { cursor = 0 } = (await findFleet(db, workspaceId)) ?? {}
      const known = fleets.get(workspaceId)
      const time = performance.now()
      if (known && time < (known.cursor === cursor ? known.until : known.freshUntil))
        return known.list
      const running = reading.get(workspaceId)
      if (running) return running
      const started = readFleet(workspaceId, cursor).finally(() => reading.delete(workspaceId))
      reading.set(workspaceId, started)
      return started
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
  const indicators = [...listed, ...revoked].toSorted(byIssue)
  const newest = indicators.at(-1)?.issuedAt.getTime() ?? 0
  return { version: `${version}-${newest}`, indicators }
}

/** The order of indicators in a list. */
export function byIssue(
  a: Pick<Indicator, 'issuedAt' | 'address'>,
  b: Pick<Indicator, 'issuedAt' | 'address'>,
): number {
  const difference = a.issuedAt.getTime() - b.issuedAt.getTime()
  return difference || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0)
}

/** The exact time of a report would identify a line of a server’s log. */
const floorHour = (date: Date) => new Date(Math.floor(date.getTime() / HOUR_MS) * HOUR_MS)

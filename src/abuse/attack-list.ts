import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { deriveKey } from '../derive-key.ts'
import type { Logger } from '../log.ts'
import { openLookups } from '../store/database.ts'
import { loadStableKey, type SecretKeys } from '../store/key-rotation.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { createExports } from './export/exports.ts'
import type { SubmissionResult } from './intake/commit.ts'
import { createIntake } from './intake/intake.ts'
import { ensurePartitions } from './intake/partitions.ts'
import { MAX_CONCURRENT_GROUPS } from './intake/report-commits.ts'
import { createReportIntake } from './intake/submit-reports.ts'
import { createAttackMap } from './lookup/attack-map.ts'
import { createLookup } from './lookup/check-address.ts'
import { createStats } from './lookup/stats.ts'
import { createStatsNotifier } from './lookup/stats-notifier.ts'
import { openPeerNames } from './peer-evidence/peer-names.ts'
import { openRanges } from './ranges/ranges.ts'
import { attackerNetworkOf } from './reputation/attacker-network.ts'
import { createReporters } from './reputation/reporter.ts'
import { createStandings } from './reputation/standings.ts'
import { NO_SYSTEMS, type Systems } from './reputation/systems.ts'
import { serviceOf } from './services.ts'
import { createTokenAuth } from './tokens/token-auth.ts'

export type AttackListOptions = SecretKeys & {
  db: Kysely<DB>
  pool: Pool
  notifications: Notifications
  log: Logger
  /** Where the attack-reporting endpoints are reached. */
  reportsUrl: string
  /** The URL of the dashboard, with its page about an address. */
  baseUrl: string
  /**
   * The table of autonomous systems. Without it, an IPv4 /16 and an IPv6 /32 count as one operator,
   * and a young list asks an administrator.
   */
  systems?: Systems
  /** Milliseconds since 1970. */
  clock?: () => number
  /** Called with the result of each report, for metrics. */
  onReport?: ((outcome: ReportOutcome) => void) | undefined
}

export type ReportOutcome = 'accepted' | 'deduped' | 'ignored' | 'limited'

const PSEUDONYMS = 'abuse pseudonyms'

/** The attack list: what takes reports, scores and lists addresses, and answers about them. */
export type AttackList = Awaited<ReturnType<typeof openAttackList>>

/** `close` waits for reports that are being stored. */
export async function openAttackList(options: AttackListOptions) {
  const {
    db,
    pool,
    notifications,
    log,
    baseUrl,
    reportsUrl,
    systems = NO_SYSTEMS,
    onReport,
    clock = Date.now,
  } = options
  const pageUrl = `${baseUrl}/address`
  await ensurePartitions(db, clock())
  // The reputation of a network belongs to its pseudonym: with another key, all networks would lose
  // it.
  const pseudonyms = await loadStableKey(
    db,
    PSEUDONYMS,
    (secretKey) => deriveKey(secretKey, PSEUDONYMS),
    options,
  )
  const ranges = await openRanges(db, notifications, log)
  const standings = await createStandings(db, notifications, log)
  const peerNames = await openPeerNames(db, notifications, log)
  const exports = await createExports(db, notifications, { log, pageUrl })
  const lookups = openLookups(pool, MAX_CONCURRENT_GROUPS)
  const statsNotifier = createStatsNotifier({ db, log })
  // Instances write to separate counters. Two with the same number only wait for each other.
  const intake = createIntake(
    {
      store: { db, pool: lookups },
      ranges,
      standings,
      traitsOf: serviceOf,
      networkOfAttacker: (key) => attackerNetworkOf(systems, key),
      lane: 2 * randomInt(1, 10_000),
    },
    clock,
    (receipt) => {
      statsNotifier.changed()
      if (onReport) outcomesOf(receipt).forEach(onReport)
    },
  )
  const reportTokens = createTokenAuth(db, notifications, 'canReport')
  return {
    ...createReportIntake(intake),
    db,
    log,
    clock,
    pageUrl,
    reportsUrl,
    ranges,
    standings,
    peerNames,
    exports,
    reportTokens,
    systems,
    traitsOf: serviceOf,
    reporterOf: createReporters(pseudonyms, (ip) => systems.find(ip)),
    lookup: createLookup(db),
    stats: createStats(db, clock),
    attackMap: createAttackMap(db, clock),
    async close(): Promise<void> {
      await intake.close()
      await lookups.end()
      statsNotifier.close()
      for (const part of [ranges, standings, exports, reportTokens, peerNames]) part.close()
    },
  }
}

function outcomesOf({ allowance, outcomes }: SubmissionResult): ReportOutcome[] {
  if (!allowance.allowed) return ['limited']
  return outcomes.map(({ ignored, deduped }) =>
    ignored ? 'ignored' : deduped ? 'deduped' : 'accepted',
  )
}

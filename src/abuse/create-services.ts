import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { deriveKey } from '../accounts/keys.ts'
import type { PrivateTargets } from '../setting-values.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import { loadStableKey } from '../store/key-rotation.ts'
import { openLookups } from '../store/database.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { createMailQueue } from './abuse-mails/mail-queue.ts'
import { createLookup } from './lookup/check.ts'
import { createExports } from './export/exports.ts'
import { createFederation } from './federation/federation.ts'
import { openPeerNames } from './federation/peers/peer-names.ts'
import { createFleets } from './fleet/fleet.ts'
import { createPublicFeeds } from './public-feeds/public-feeds.ts'
import { createRelayQueue } from './relays/relay-queue.ts'
import { submitWithFleet } from './fleet/submit.ts'
import { createStatsNotifier } from './lookup/stats-notifier.ts'
import type { SubmissionResult } from './intake/commit.ts'
import { MAX_CONCURRENT_GROUPS } from './intake/group-commit.ts'
import { createIntake } from './intake/intake.ts'
import { ensurePartitions } from './intake/partitions.ts'
import { openRanges } from './ranges/ranges.ts'
import { createAttackMap } from './lookup/attack-map.ts'
import { attackerNetworkOf } from './reputation/attacker-network.ts'
import { createReporters } from './reputation/reporter.ts'
import { serviceOf } from './services.ts'
import { createStandings } from './reputation/standings.ts'
import { createStats } from './lookup/stats.ts'
import { createIndicators } from './indicators/indicators.ts'
import { createTokenAuth } from './tokens/token-auth.ts'
import { NO_SYSTEMS, type Systems } from './reputation/systems.ts'

export type AbuseOptions = {
  db: Kysely<DB>
  pool: Pool
  notifications: Notifications
  log: Logger
  secretKey: string
  /** The previous key, while it is being replaced. */
  previousKey?: string | undefined
  /** Where the attack-reporting endpoints are reached. */
  reportsUrl: string
  /** The URL of the dashboard, with its page about an address. */
  baseUrl: string
  /**
   * The table of autonomous systems. Without it, an IPv4 /16 and an IPv6 /32 count as one operator,
   * and a young list asks an administrator.
   */
  systems?: Systems
  /** Finds the addresses of this service, which fleet lists never contain. */
  resolver?: Pick<Resolver, 'query'> | undefined
  /** Which private addresses peers may have. */
  allowPrivate?: PrivateTargets
  /** Milliseconds since 1970. */
  clock?: () => number
  /** Called with the result of each report, for metrics. */
  onReport?: ((outcome: ReportOutcome) => void) | undefined
}

export type ReportOutcome = 'accepted' | 'deduped' | 'ignored' | 'limited'

const PSEUDONYMS = 'abuse pseudonyms'
const MAIL_OPT_OUTS = 'abuse mail opt-outs'

/** The services that routes, jobs and the list publisher of attack reporting share. */
export type AbuseServices = Awaited<ReturnType<typeof createAbuseServices>>

/** `close` waits for reports that are being stored. */
export async function createAbuseServices(options: AbuseOptions) {
  const {
    db,
    pool,
    notifications,
    log,
    baseUrl,
    reportsUrl,
    resolver,
    allowPrivate = false,
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
  const federation = await createFederation({
    db,
    url: reportsUrl,
    keys: options,
    resolver,
    allowPrivate,
    clock,
  })
  const exports = await createExports(db, notifications, { log, pageUrl })
  const publicFeeds = await createPublicFeeds({ db, notifications, log, clock })
  const relayQueue = await createRelayQueue({ db, notifications, log, clock })
  const mailQueue = await createMailQueue({ db, notifications, log, clock })
  const optOutKey = await loadStableKey(
    db,
    MAIL_OPT_OUTS,
    (secretKey) => deriveKey(secretKey, MAIL_OPT_OUTS),
    options,
  )
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
  const urls = [baseUrl, reportsUrl]
  const fleets = createFleets({
    db,
    notifications,
    log,
    clock,
    ranges,
    exports,
    publicFeeds,
    pageUrl,
    urls,
    resolver,
  })
  return {
    db,
    log,
    pageUrl,
    ranges,
    standings,
    exports,
    publicFeeds,
    fleets,
    indicators: createIndicators(db, exports, clock),
    reportTokens,
    reportsUrl,
    submit: submitWithFleet(intake, fleets, [relayQueue, mailQueue]),
    federation,
    peerNames,
    clock,
    /** Signs links of abuse emails. */
    optOutKey,
    systems,
    traitsOf: serviceOf,
    reporterOf: createReporters(pseudonyms, (ip) => systems.find(ip)),
    lookup: createLookup(db),
    stats: createStats(db, clock),
    attackMap: createAttackMap(db, clock),
    async close(): Promise<void> {
      await intake.close()
      await fleets.close()
      await lookups.end()
      statsNotifier.close()
      const parts = [
        ranges,
        standings,
        exports,
        publicFeeds,
        relayQueue,
        mailQueue,
        reportTokens,
        peerNames,
      ]
      for (const part of parts) part.close()
    },
  }
}

function outcomesOf({ allowance, outcomes }: SubmissionResult): ReportOutcome[] {
  if (!allowance.allowed) return ['limited']
  return outcomes.map(({ ignored, deduped }) =>
    ignored ? 'ignored' : deduped ? 'deduped' : 'accepted',
  )
}

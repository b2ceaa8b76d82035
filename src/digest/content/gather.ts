import type { Kysely } from 'kysely'
import { sumOwnReports } from '../../abuse/abuse-digest.sql.ts'
import { listExpiringTokens } from '../../accounts/accounts-digest.sql.ts'
import {
  countAlertsOf,
  listAlertsOf,
  listFailingChannels,
  listOpenProblems,
} from '../../alerts/alerts-digest.sql.ts'
import {
  compareDomains,
  listChangedSources,
  listFailingMailboxes,
  listSilentDomains,
  listUnprovenDomains,
  type ChangedSource,
  type ComparedDays,
} from '../../dmarc/dmarc-digest.sql.ts'
import { listEndedMigrations } from '../../migration/migration-digest.sql.ts'
import {
  countMonitored,
  listBrokenCertificates,
  listExpiringCertificates,
  listHostChanges,
  listListedHosts,
  listRenewedCertificates,
  listUncheckedHosts,
} from '../../monitoring/monitoring-digest.sql.ts'
import type { Bounded, Period } from '../../store/bounded.ts'
import { isDatabaseTimeout, withStatementTimeout, type Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { listFailingEndpoints, listSilentEndpoints } from '../../webhooks/webhooks-digest.sql.ts'
import {
  COMPARED_DAYS,
  EXPIRY_AHEAD_MS,
  MAX_OPEN_PROBLEMS,
  MAX_ROWS,
  MAX_SOURCES_PER_DOMAIN,
  MIN_FAILING_MESSAGES,
  QUERY_TIMEOUT_MS,
  SILENCE,
  UNKNOWN_SOURCE_DAYS,
} from '../limits.ts'
import type { Member, Settings } from '../digest-subscriptions.sql.ts'
import type {
  BadDomain,
  AttentionFacts,
  ChangeFacts,
  DigestFacts,
  DomainChange,
  EndedDelisting,
  WaitingDelisting,
} from './facts.ts'

/** The reading functions of modules in the same layer, which `modules.ts` passes on. */
export type Readers = {
  domains: {
    countWatched(db: Db, workspaceId: string): Promise<number>
    listBad(db: Db, workspaceId: string, limit: number): Promise<Bounded<BadDomain>>
    listRecordChanges(
      db: Db,
      workspaceId: string,
      period: Period,
      limit: number,
    ): Promise<Bounded<DomainChange>>
  }
  delistings: {
    listWaiting(db: Db, workspaceId: string, limit: number): Promise<Bounded<WaitingDelisting>>
    listEnded(
      db: Db,
      workspaceId: string,
      period: Period,
      limit: number,
    ): Promise<Bounded<EndedDelisting>>
  }
}

export type GatherDeps = { db: Kysely<DB>; readers: Readers }

export type DigestRequest = Member & {
  workspace: string
  settings: Settings
  period: Period
  nextAt: Date | null
}

/** Topics of alerts whose events the digest shows itself. */
const SHOWN_TOPICS = ['blacklist', 'certificate', 'dns', 'delisting', 'migration', 'channel']

/**
 * Reads everything for one digest, one query after the other on one connection, so that digests
 * never take the connections of requests.
 */
export async function gatherFacts(
  { db, readers }: GatherDeps,
  request: DigestRequest,
): Promise<DigestFacts> {
  return withStatementTimeout(db, QUERY_TIMEOUT_MS, async (connection) => {
    const { workspaceId, accountId, period } = request
    const days = comparedDays(period.to)
    const ahead = { from: period.to, to: new Date(period.to.getTime() + EXPIRY_AHEAD_MS) }
    const dmarc = await compareDomains(connection, workspaceId, days, MAX_ROWS)
    return {
      ...request,
      days,
      open: await listOpenProblems(connection, workspaceId, MAX_OPEN_PROBLEMS),
      attention: await gatherAttention(connection, readers, workspaceId, period.to),
      changes: await gatherChanges(connection, readers, workspaceId, period),
      dmarc,
      sources: await readSources(
        connection,
        dmarc.rows.map(({ id }) => id),
        days,
      ),
      attacks: await sumOwnReports(connection, workspaceId, days),
      expiring: {
        certificates: await listExpiringCertificates(connection, workspaceId, ahead, MAX_ROWS),
        tokens: await listExpiringTokens(connection, { workspaceId, accountId }, ahead, MAX_ROWS),
      },
      monitored: {
        hosts: await countMonitored(connection, workspaceId),
        domains: await readers.domains.countWatched(connection, workspaceId),
      },
    }
  })
}

async function gatherAttention(
  db: Db,
  { domains, delistings }: Readers,
  workspaceId: string,
  now: Date,
): Promise<AttentionFacts> {
  return {
    listed: await listListedHosts(db, workspaceId, MAX_ROWS),
    certificates: await listBrokenCertificates(db, workspaceId, MAX_ROWS),
    domains: await domains.listBad(db, workspaceId, MAX_ROWS),
    delistings: await delistings.listWaiting(db, workspaceId, MAX_ROWS),
    silentDomains: await listSilentDomains(db, workspaceId, now, SILENCE, MAX_ROWS),
    unprovenDomains: await listUnprovenDomains(db, workspaceId, MAX_ROWS),
    mailboxes: await listFailingMailboxes(db, workspaceId, MAX_ROWS),
    silentEndpoints: await listSilentEndpoints(db, workspaceId, MAX_ROWS),
    channels: await listFailingChannels(db, workspaceId, MAX_ROWS),
    unchecked: await listUncheckedHosts(db, workspaceId, MAX_ROWS),
  }
}

async function gatherChanges(
  db: Db,
  { domains, delistings }: Readers,
  workspaceId: string,
  period: Period,
): Promise<ChangeFacts> {
  const changes = (kind: 'blacklist' | 'certificate' | 'dns') =>
    listHostChanges(db, workspaceId, kind, period, MAX_ROWS)
  return {
    counts: await countAlertsOf(db, workspaceId, period),
    alerts: await listAlertsOf(db, workspaceId, period, { without: SHOWN_TOPICS, limit: MAX_ROWS }),
    listings: await changes('blacklist'),
    delistings: await delistings.listEnded(db, workspaceId, period, MAX_ROWS),
    certificates: await changes('certificate'),
    renewed: await listRenewedCertificates(db, workspaceId, period, MAX_ROWS),
    records: await changes('dns'),
    domainRecords: await domains.listRecordChanges(db, workspaceId, period, MAX_ROWS),
    migrations: await listEndedMigrations(db, workspaceId, period, MAX_ROWS),
    webhooks: await listFailingEndpoints(db, workspaceId, period, MAX_ROWS),
  }
}

/** A domain under attack may have a million sources: its digest is sent without them. */
async function readSources(
  db: Db,
  domainIds: string[],
  days: ComparedDays,
): Promise<ChangedSource[] | null> {
  const limits = {
    perDomain: MAX_SOURCES_PER_DOMAIN,
    minMessages: MIN_FAILING_MESSAGES,
    unknownDays: UNKNOWN_SOURCE_DAYS,
  }
  return listChangedSources(db, domainIds, days, limits).catch((error: unknown) => {
    if (isDatabaseTimeout(error)) return null
    throw error
  })
}

/**
 * The last seven whole days (UTC) and the seven before. The current day is left out, because its
 * reports arrive tomorrow.
 */
function comparedDays(now: Date): ComparedDays {
  const dayBefore = (days: number) => isoDay(now.getTime() - days * DAY_MS)
  return {
    now: { from: dayBefore(COMPARED_DAYS), to: dayBefore(1) },
    before: { from: dayBefore(2 * COMPARED_DAYS), to: dayBefore(COMPARED_DAYS + 1) },
  }
}

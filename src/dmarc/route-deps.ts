import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import type { NewAlert, ResolvingAlert } from '../alerts/raise.ts'
import type { PrivateTargets } from '../setting-values.ts'
import { Uuid } from '../http/http-schema.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { OpenTokens } from '../mail-credentials/token-source.ts'
import type { Resolver } from '../net/dns.ts'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import type { FindAsn } from './summary/summary.ts'
import type { ReportRecords } from './domains/publication.ts'
import type { OnReports } from './intake/ingest.ts'
import type { MailReceiver } from '../net/mail-receiver.ts'

/** @throws Fault where DNS gives no answer */
export type FindReportRecords = (
  domain: string,
  known: {
    reportEmailOf: () => Promise<string | null>
    safePolicyOf: () => Promise<'quarantine' | 'reject' | null>
    selectorsSeen: () => Promise<string[]>
  },
  signal: AbortSignal,
) => Promise<ReportRecords>

/** Dependencies of jobs and routes. */
export type DmarcDeps = {
  db: Kysely<DB>
  resolver: Resolver
  allowPrivate: PrivateTargets
  secretKey: string
  /** The domain of the addresses that receive reports. */
  reportDomain: string
  findAsn: FindAsn
  openTokens: OpenTokens
  /** The records about reports that the page of a domain proposes. */
  findReportRecords: FindReportRecords
  onReports?: OnReports | undefined
  mailReceivers?: readonly MailReceiver[]
  /** Milliseconds for which a page waits for DNS, if not `MAX_DNS_WAIT_MS`. */
  dnsWaitMs?: number | undefined
}

export type RaiseAlert = (db: Db, alert: NewAlert) => Promise<boolean>
/** Raises an alert that resolves an incident, only where that is open. */
export type RaiseResolved = (db: Db, alert: ResolvingAlert) => Promise<boolean>

/** Dependencies of jobs that raise alerts. */
export type WatchDeps = DmarcDeps & {
  raiseAlert?: RaiseAlert | undefined
  raiseResolved?: RaiseResolved | undefined
}

/** Dependencies of routes. */
export type RouteDeps = DmarcDeps & {
  /** Days for which report files are stored. */
  kept: { fileDays: number }
  queue: Queue
  mailboxJob: Job<{ mailboxId: string; workspaceId: string }>
}

export const byId = Type.Object({ id: Uuid })

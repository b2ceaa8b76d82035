import type { Kysely, Transaction } from 'kysely'
import type { Config } from '../config.ts'
import { Fault } from '../errors.ts'
import type { Routes } from '../http/scopes.ts'
import type { Enqueue, Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { SmtpServer } from '../net/smtp-server.ts'
import type { AsnTable } from '../protocols/networks/asn-table.ts'
import type { DB } from '../store/tables.ts'
import { reportEmailOf } from './domains/report-email.ts'
import { findDomainByName } from './domains/store.ts'
import type { OnReports } from './intake/ingest.ts'
import type { IntakeLimits } from './limits.ts'
import {
  cleanUpReportsJob,
  fetchJob,
  indexJob,
  mailboxJob,
  nameJob,
  verifyJob,
  senderJob,
  silenceJob,
  watchJob,
} from './jobs.ts'
import type { OpenTokens } from '../mail-credentials/token-source.ts'
import { listUsingCredential } from './mailboxes/store.ts'
import type { RaiseAlert, RaiseResolved } from './route-deps.ts'
import { dmarcRoutes } from './routes.ts'
import { listFileUsage } from './storage/store.ts'
import { listWorkspaceSelectors } from './summary/store.ts'

export type DmarcOptions = {
  db: Kysely<DB>
  log: Logger
  secretKey: string
  resolver: Resolver
  openTokens: OpenTokens
  config: Pick<
    Config,
    | 'ALLOW_PRIVATE_TARGETS'
    | 'REPORT_DOMAIN'
    | 'REPORTS_KEPT_MONTHS'
    | 'REPORT_FILES_KEPT_DAYS'
    | 'SMTP_LISTEN'
    | 'SMTP_TLS_CERT'
    | 'SMTP_TLS_KEY'
  >
  /** Maps addresses to autonomous systems; null if no table is configured. */
  systems: AsnTable | null
  raiseAlert?: RaiseAlert
  raiseResolved?: RaiseResolved
  onReports?: OnReports | undefined
  intakeLimits?: IntakeLimits | undefined
  /** Milliseconds for one read of a mailbox. */
  pollLimitMs?: number | undefined
  /** Milliseconds for which a page waits for DNS. */
  dnsWaitMs?: number | undefined
}

/** Selectors that a check of the domain tries, the most frequent first. */
const MAX_CHECKED_SELECTORS = 20

/** The DMARC module: receives reports by email, upload and mailbox, and evaluates them. */
export function createDmarcModule(options: DmarcOptions) {
  const {
    db,
    log,
    secretKey,
    resolver,
    openTokens,
    config,
    systems,
    raiseAlert,
    raiseResolved,
    onReports,
    intakeLimits: limits,
    pollLimitMs,
    dnsWaitMs,
  } = options
  const deps = {
    db,
    secretKey,
    resolver,
    openTokens,
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
    reportDomain: config.REPORT_DOMAIN,
    findAsn: (address: string) => systems?.find(address) ?? null,
    kept: { reportMonths: config.REPORTS_KEPT_MONTHS, fileDays: config.REPORT_FILES_KEPT_DAYS },
    raiseAlert,
    raiseResolved,
    onReports,
    pollLimitMs,
    dnsWaitMs,
  }
  const certificate = certificateOf(config)
  const mailbox = mailboxJob(deps)
  const jobs: Job[] = [
    nameJob(deps),
    verifyJob(deps),
    indexJob(deps),
    fetchJob(deps, mailbox),
    mailbox,
    watchJob(deps),
    silenceJob(deps),
    senderJob(deps),
    cleanUpReportsJob(deps),
  ]
  return {
    jobs,
    routes: {
      account: (app, { queue }) => dmarcRoutes(app, { ...deps, queue, mailboxJob: mailbox }),
    } satisfies Routes<{ queue: Queue }>,
    /** Reads the mailboxes that waited for a credential, which was renewed. */
    async onCredentialRenewed(
      trx: Transaction<DB>,
      { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
      enqueue: Enqueue,
    ): Promise<void> {
      for (const { id: mailboxId } of await listUsingCredential(trx, workspaceId, credentialId))
        await enqueue(trx, mailbox, { mailboxId, workspaceId })
    },
    /** Starts the SMTP server for reports; null if it is disabled. */
    async listen(): Promise<SmtpServer | null> {
      const { SMTP_LISTEN: listen, REPORT_DOMAIN: reportDomain } = config
      if (!listen) return null
      const { startMailListener } = await import('./intake/mail-listener.ts')
      return startMailListener({
        db,
        resolver,
        log,
        reportDomain,
        listen,
        certificate,
        onReports,
        limits,
      })
    },
    /** Bytes of stored report files per workspace. */
    fileUsage: (workspaceIds: string[]) => listFileUsage(db, workspaceIds),
    /**
     * Selectors that a domain signs with according to the workspace's reports, the most frequent
     * first.
     */
    selectorsSeen: (workspaceId: string, domain: string) =>
      listWorkspaceSelectors(db, workspaceId, domain, MAX_CHECKED_SELECTORS),
    /** The address to which the workspace’s reports about a domain go; null if it has none. */
    reportEmailOf: async (workspaceId: string, domain: string): Promise<string | null> => {
      const row = await findDomainByName(db, workspaceId, domain)
      return row ? reportEmailOf(row, config.REPORT_DOMAIN) : null
    },
  }
}

/** The files of the SMTP server’s certificate. @throws Fault `invalid_request` for one without the other */
export function certificateOf({ SMTP_TLS_CERT: cert, SMTP_TLS_KEY: key }: DmarcOptions['config']) {
  if (cert !== undefined && key !== undefined) return { cert, key }
  if (cert === key) return null
  throw new Fault(
    'invalid_request',
    'Only one of SMTP_TLS_CERT and SMTP_TLS_KEY is set. Set both or neither.',
  )
}

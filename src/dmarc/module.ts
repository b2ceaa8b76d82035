import type { Kysely, Transaction } from 'kysely'
import type { Config } from '../config.ts'
import { Fault } from '../errors.ts'
import type { Routes } from '../http/scopes.ts'
import type { Enqueue, Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { MailReceiver } from '../net/mail-receiver.ts'
import type { SmtpServer } from '../net/smtp-server.ts'
import type { AsnTable } from '../protocols/networks/asn-table.ts'
import type { DB } from '../store/tables.ts'
import { findSafePolicy, listSelectorsOf } from './domains/known-mail.ts'
import { reportEmailOf } from './domains/report-email.ts'
import { findDomainByName } from './domains/dmarc-domains.sql.ts'
import type { OnReports } from './intake/ingest.ts'
import { USAGE_RETENTION_DAYS, type IntakeLimits } from './limits.ts'
import {
  cleanUpReportsJob,
  fetchJob,
  indexJob,
  mailboxJob,
  nameJob,
  selectorJob,
  verifyJob,
  senderJob,
  silenceJob,
  watchJob,
} from './dmarc-jobs.ts'
import type { OpenTokens } from '../mail-credentials/token-source.ts'
import { listReportMailboxes, listUsingCredential } from './mailboxes/report-mailboxes.sql.ts'
import type { FindReportRecords, RaiseAlert, RaiseResolved } from './route-deps.ts'
import { dmarcRoutes } from './routes.ts'
import { listAddressUses } from './sources/address-use.sql.ts'
import { listFileUsage } from './storage/report-storage.sql.ts'
import { isoDay } from '../time.ts'

export type DmarcOptions = {
  db: Kysely<DB>
  log: Logger
  secretKey: string
  resolver: Resolver
  openTokens: OpenTokens
  findReportRecords: FindReportRecords
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

/** The DMARC module: receives reports by email, upload and mailbox, and evaluates them. */
export function createDmarcModule(options: DmarcOptions) {
  const {
    db,
    log,
    secretKey,
    resolver,
    openTokens,
    findReportRecords,
    config,
    systems,
    raiseAlert,
    raiseResolved,
    onReports,
    intakeLimits: limits,
    pollLimitMs,
    dnsWaitMs,
  } = options
  const mailReceivers: MailReceiver[] = []
  const deps = {
    db,
    secretKey,
    resolver,
    openTokens,
    findReportRecords,
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
    reportDomain: config.REPORT_DOMAIN,
    findAsn: (address: string) => systems?.find(address) ?? null,
    kept: { reportMonths: config.REPORTS_KEPT_MONTHS, fileDays: config.REPORT_FILES_KEPT_DAYS },
    raiseAlert,
    raiseResolved,
    onReports,
    mailReceivers,
    pollLimitMs,
    dnsWaitMs,
  }
  const certificate = certificateOf(config)
  const mailbox = mailboxJob(deps)
  const jobs: Job[] = [
    nameJob(deps),
    verifyJob(deps),
    indexJob(deps),
    selectorJob(deps),
    fetchJob(deps, mailbox),
    mailbox,
    watchJob(deps),
    silenceJob(deps),
    senderJob(deps),
    cleanUpReportsJob(deps),
  ]
  return {
    jobs,
    // A day counts from its begin, so it is kept for a day less.
    retention: [{ table: 'dmarc_intake_day', column: 'day', days: USAGE_RETENTION_DAYS + 1 }],
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
        mailReceivers,
      })
    },
    /** Call before the start: mail to addresses that receive no reports goes there. */
    receiveMail: (receiver: MailReceiver) => void mailReceivers.push(receiver),
    /** The report mailboxes of a workspace, and a read of them now. */
    mailboxes: {
      list: async (workspaceId: string): Promise<string[]> =>
        (await listReportMailboxes(db, workspaceId)).map(({ username }) => username),
      read: async (trx: Kysely<DB>, workspaceId: string, enqueue: Enqueue): Promise<void> => {
        for (const { id: mailboxId } of await listReportMailboxes(trx, workspaceId))
          await enqueue(trx, mailbox, { mailboxId, workspaceId })
      },
    },
    /** Bytes of stored report files per workspace. */
    fileUsage: (workspaceIds: string[]) => listFileUsage(db, workspaceIds),
    /**
     * Selectors that a domain signs with according to the workspace's reports, the most frequent
     * first.
     */
    selectorsSeen: (workspaceId: string, domain: string) =>
      listSelectorsOf(deps, { workspaceId, domain }),
    /** The address to which the workspace’s reports about a domain go; null if it has none. */
    reportEmailOf: async (workspaceId: string, domain: string): Promise<string | null> => {
      const row = await findDomainByName(db, workspaceId, domain)
      return row ? reportEmailOf(row, config.REPORT_DOMAIN) : null
    },
    /** What addresses sent for the workspace’s domains in the last 12 months. */
    addressUses: (workspaceId: string, addresses: { first: string; last: string }) => {
      const from = new Date()
      from.setUTCMonth(from.getUTCMonth() - 11, 1)
      return listAddressUses(db, workspaceId, addresses, isoDay(from))
    },
    /** The next stricter policy of a domain, if the workspace’s reports show that it is safe. */
    safePolicyOf: async (workspaceId: string, domain: string) => {
      const row = await findDomainByName(db, workspaceId, domain)
      return row ? findSafePolicy(deps, row) : null
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

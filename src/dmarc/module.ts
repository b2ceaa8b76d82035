import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { Fault } from '../errors.ts'
import type { AuthHooks } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { SmtpServer } from '../net/smtp-server.ts'
import type { AsnTable } from '../protocols/networks/asn-table.ts'
import type { DB } from '../store/tables.ts'
import type { OnReports } from './intake/ingest.ts'
import type { IntakeLimits } from './limits.ts'
import { startMailListener } from './intake/mail-listener.ts'
import { cleanUpJob, fetchJob, mailboxJob, nameJob, verifyJob, watchJob, type RaiseAlert } from './jobs.ts'
import { encryptionContext } from './mailboxes/fetch.ts'
import { dmarcRoutes } from './routes.ts'
import { listFileUsage } from './storage/store.ts'
import { listSelectorsOf } from './summary/store.ts'

export type DmarcOptions = {
  db: Kysely<DB>
  log: Logger
  secretKey: string
  resolver: Resolver
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
  /** Who announces an address; null where there is no table. */
  systems: AsnTable | null
  raiseAlert?: RaiseAlert
  onReports?: OnReports | undefined
  intakeLimits?: IntakeLimits | undefined
  /** Milliseconds for one look into a mailbox. */
  pollLimitMs?: number | undefined
}

/** Selectors that one check tries: the commonest are the domain's own. */
const MOST_SELECTORS = 20

/** Reports on domains: how they come in, and what they come to. */
export function createDmarcModule(options: DmarcOptions) {
  const {
    db,
    log,
    secretKey,
    resolver,
    config,
    systems,
    raiseAlert,
    onReports,
    intakeLimits: limits,
    pollLimitMs,
  } = options
  const deps = {
    db,
    secretKey,
    resolver,
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
    reportDomain: config.REPORT_DOMAIN,
    findAsn: (address: string) => systems?.find(address) ?? null,
    kept: { reportMonths: config.REPORTS_KEPT_MONTHS, fileDays: config.REPORT_FILES_KEPT_DAYS },
    raiseAlert,
    onReports,
    pollLimitMs,
  }
  const certificate = certificateOf(config)
  const mailbox = mailboxJob(deps)
  const jobs: Job[] = [
    nameJob(deps),
    verifyJob(deps),
    fetchJob(deps, mailbox),
    mailbox,
    watchJob(deps),
    cleanUpJob(deps),
  ]
  return {
    jobs,
    encryptedColumns: [{ table: 'dmarc_mailbox', id: 'id', column: 'sealed', contextOf: encryptionContext }],
    routes(app: App, { authHooks, queue }: { authHooks: AuthHooks; queue: Queue }): void {
      dmarcRoutes(app, { ...deps, authHooks, queue, mailboxJob: mailbox })
    },
    /** Opens the door for report mail; null where it is switched off. */
    async listen(): Promise<SmtpServer | null> {
      const { SMTP_LISTEN: listen, REPORT_DOMAIN: reportDomain } = config
      return listen && startMailListener({ db, resolver, log, reportDomain, listen, certificate, onReports, limits })
    },
    /** Bytes of report files that these accounts store. */
    fileUsage: (accountIds: string[]) => listFileUsage(db, accountIds),
    /** Selectors under which a domain was seen to sign in the account's reports, the commonest first. */
    selectorsSeen: (accountId: string, domain: string) => listSelectorsOf(db, accountId, domain, MOST_SELECTORS),
  }
}

function certificateOf({ SMTP_TLS_CERT: cert, SMTP_TLS_KEY: key }: DmarcOptions['config']) {
  if (cert !== undefined && key !== undefined) return { cert, key }
  if (cert === key) return null
  throw new Fault('invalid_request', 'SMTP_TLS_CERT and SMTP_TLS_KEY belong together: set both, or neither.')
}

import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { RouteContext } from '../module.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import { createDomainLists } from '../protocols/dnsbl/domain-lists.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import { futureTimestamps } from '../store/clock.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { DAY_SECONDS } from '../time.ts'
import { ANALYSIS_LEASE_SECONDS, FINDINGS_DAYS } from './limits.ts'
import {
  createFindBackground,
  type BackgroundDeps,
} from './mail-tests/background/find-background.ts'
import { createAskEngines } from './mail-tests/engines/ask-engines.ts'
import { pickUpJob, recoverAnalysesJob, type ReadMailboxes } from './mail-tests/mail-test-jobs.ts'
import { DUE_ANALYSES } from './mail-tests/mail-tests.sql.ts'
import { createMailReceiver } from './mail-tests/receive-mails.ts'
import { mailTestRoutes, sharedMailTestRoute } from './mail-tests/routes.ts'
import { createAnalyzer } from './mail-tests/run-analysis.ts'

export type DeliverabilityOptions = Omit<BackgroundDeps, 'blocklists'> & {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
  resolver: Resolver
  blocklists: Blocklists
  config: Pick<
    Config,
    'BASE_URL' | 'REPORT_DOMAIN' | 'SMTP_LISTEN' | 'RSPAMD_URL' | 'SPAMD_ADDRESS'
  >
  /** The email addresses of a workspace’s report mailboxes, and a read of them now. */
  listMailboxes: (workspaceId: string) => Promise<string[]>
  readMailboxes: ReadMailboxes
}

/** The deliverability module: tests of mails that people send to an address of this service. */
export function createDeliverabilityModule(options: DeliverabilityOptions) {
  const { db, notifications, log, resolver, blocklists, config } = options
  const analyzer = createAnalyzer({
    db,
    log,
    resolver,
    blocklists,
    domainLists: createDomainLists(blocklists),
    askEngines: createAskEngines(config, resolver),
    findBackground: createFindBackground(options),
  })
  const deps = {
    db,
    notifications,
    analyzer,
    reportDomain: config.REPORT_DOMAIN,
    baseUrl: config.BASE_URL,
    isListening: config.SMTP_LISTEN !== null,
    listMailboxes: options.listMailboxes,
  }
  return {
    jobs: [recoverAnalysesJob(deps), pickUpJob(options)] as Job[],
    /** Receives the mails of tests from the module that has the SMTP server and the mailboxes. */
    mailTests: createMailReceiver(deps),
    futureTimestamps: [
      ...futureTimestamps('service', [
        ['mail_test', 'expires_at', DAY_SECONDS],
        ['mail_test_raw', 'expires_at', DAY_SECONDS],
      ]),
      ...futureTimestampsOf(DUE_ANALYSES, {
        clock: 'database',
        aheadSeconds: ANALYSIS_LEASE_SECONDS,
      }),
    ],
    retention: [
      { table: 'mail_test_raw', column: 'expires_at', days: 0 },
      { table: 'mail_test_mail', column: 'created_at', days: FINDINGS_DAYS },
      { table: 'mail_test', column: 'expires_at', days: FINDINGS_DAYS },
    ],
    routes: {
      public: (app) => sharedMailTestRoute(app, deps),
      account: (app, context) => mailTestRoutes(app, deps, context),
    } satisfies Routes<RouteContext>,
    close: () => analyzer.close(),
  }
}

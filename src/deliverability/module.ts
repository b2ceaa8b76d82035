import type { Kysely, Transaction } from 'kysely'
import type { Config } from '../config.ts'
import type { RouteContext } from '../module.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import { createDomainLists } from '../protocols/dnsbl/domain-lists.ts'
import { notifyChange } from '../store/changes.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import { futureTimestamps } from '../store/clock.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { DAY_SECONDS } from '../time.ts'
import { clearSeedProblems, DUE_CANARIES, DUE_RESULTS } from './canary/canary.sql.ts'
import { checkCanariesJob, sendCanariesJob } from './canary/canary-jobs.ts'
import { canaryRoutes } from './canary/routes.ts'
import type { CanaryDeps } from './canary/sign-ins.ts'
import {
  ANALYSIS_LEASE_SECONDS,
  CANARY_LONGEST_SECONDS,
  CANARY_RESULT_DAYS,
  COMPLAINT_DAYS,
  FINDINGS_DAYS,
  MAX_POSTMASTER_BYTES,
  MAX_SNDS_BYTES,
  POSTMASTER_TIMEOUT_MS,
  SNDS_TIMEOUT_MS,
  STATISTICS_DAYS,
} from './limits.ts'
import {
  createFindBackground,
  type BackgroundDeps,
} from './mail-tests/background/find-background.ts'
import { createAskEngines } from './mail-tests/engines/ask-engines.ts'
import { pickUpJob, recoverAnalysesJob, type ReadMailboxes } from './mail-tests/mail-test-jobs.ts'
import { DUE_ANALYSES } from './mail-tests/mail-tests.sql.ts'
import { createGuardedFetch, throughOrigins } from '../net/http/guarded-fetch.ts'
import { complaintRatesJob } from './complaints/complaint-jobs.ts'
import { createComplaintReceiver } from './complaints/receive-complaints.ts'
import { complaintRoutes } from './complaints/routes.ts'
import { createMailReceiver } from './mail-tests/receive-mails.ts'
import { mailTestRoutes, sharedMailTestRoute } from './mail-tests/routes.ts'
import { createAnalyzer } from './mail-tests/run-analysis.ts'
import type { PostmasterDeps } from './postmaster/fetch-postmaster.ts'
import { renewPostmasterAccess } from './postmaster/postmaster.sql.ts'
import { postmasterRoutes, type PostmasterRoutesDeps } from './postmaster/routes.ts'
import { ACCESS_TABLES, dueAccesses } from './provider-access/provider-access.sql.ts'
import { endingAccessesJob, fetchStatisticsJob } from './provider-access/statistics-jobs.ts'
import { sndsRoutes } from './snds/routes.ts'
import { renewSndsSignIn } from './snds/snds.sql.ts'
import { spamRateRoutes } from './spam-rates/routes.ts'

export type DeliverabilityOptions = Omit<BackgroundDeps, 'blocklists'> &
  CanaryDeps &
  Pick<PostmasterDeps, 'readToken'> &
  Pick<PostmasterRoutesDeps, 'clients' | 'eraseCredential'> & {
    db: Kysely<DB>
    /** Other origins of providers, for tests. */
    providerOrigins?: ReadonlyMap<string, string> | undefined
    notifications: Notifications
    log: Logger
    secretKey: string
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

/** The deliverability module: tests of mails, complaints about mails, and canaries. */
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
    log,
    resolver,
    secretKey: options.secretKey,
    notifications,
    analyzer,
    reportDomain: config.REPORT_DOMAIN,
    baseUrl: config.BASE_URL,
    isListening: config.SMTP_LISTEN !== null,
    listMailboxes: options.listMailboxes,
  }
  const requests = (timeoutMs: number, maxBytes: number) =>
    throughOrigins(createGuardedFetch(options, timeoutMs, maxBytes), options.providerOrigins)
  const statistics = {
    db,
    secretKey: options.secretKey,
    readToken: options.readToken,
    requestGoogle: requests(POSTMASTER_TIMEOUT_MS, MAX_POSTMASTER_BYTES),
    requestMicrosoft: requests(SNDS_TIMEOUT_MS, MAX_SNDS_BYTES),
  }
  return {
    jobs: [
      recoverAnalysesJob(deps),
      pickUpJob(options),
      complaintRatesJob(deps),
      sendCanariesJob(options),
      checkCanariesJob(options),
      fetchStatisticsJob(statistics),
      endingAccessesJob(deps),
    ] as Job[],
    /** Receives tests and complaints from the module that has the SMTP server and the mailboxes. */
    mailReceivers: [createMailReceiver(deps), createComplaintReceiver(deps)],
    futureTimestamps: [
      ...futureTimestamps('service', [
        ['mail_test', 'expires_at', DAY_SECONDS],
        ['mail_test_raw', 'expires_at', DAY_SECONDS],
      ]),
      ...futureTimestampsOf(DUE_ANALYSES, {
        clock: 'database',
        aheadSeconds: ANALYSIS_LEASE_SECONDS,
      }),
      ...[DUE_CANARIES, DUE_RESULTS].flatMap((rows) =>
        futureTimestampsOf(rows, { clock: 'database', aheadSeconds: CANARY_LONGEST_SECONDS }),
      ),
      ...ACCESS_TABLES.flatMap((table) =>
        futureTimestampsOf(dueAccesses(table), { clock: 'database', aheadSeconds: DAY_SECONDS }),
      ),
    ],
    retention: [
      { table: 'mail_test_raw', column: 'expires_at', days: 0 },
      { table: 'mail_test_mail', column: 'created_at', days: FINDINGS_DAYS },
      { table: 'mail_test', column: 'expires_at', days: FINDINGS_DAYS },
      { table: 'complaint', column: 'received_at', days: COMPLAINT_DAYS },
      { table: 'canary_result', column: 'sent_at', days: CANARY_RESULT_DAYS },
      { table: 'postmaster_day', column: 'day', days: STATISTICS_DAYS },
      { table: 'snds_day', column: 'day', days: STATISTICS_DAYS },
    ],
    routes: {
      public: (app) => sharedMailTestRoute(app, deps),
      account(app, context) {
        mailTestRoutes(app, deps, context)
        complaintRoutes(app, deps)
        canaryRoutes(app, options)
        postmasterRoutes(app, options)
        sndsRoutes(app, options)
        spamRateRoutes(app, deps)
      },
    } satisfies Routes<RouteContext>,
    /** Fetches again with a sign-in that was renewed: mailboxes of seeds, and statistics of providers. */
    async onCredentialRenewed(
      trx: Transaction<DB>,
      { workspaceId, credentialId }: { workspaceId: string; credentialId: string },
    ): Promise<void> {
      for (const canaryId of await clearSeedProblems(trx, workspaceId, credentialId))
        await notifyChange(trx, workspaceId, 'checks', canaryId)
      const isUsed =
        (await renewPostmasterAccess(trx, workspaceId, credentialId)) ||
        (await renewSndsSignIn(trx, workspaceId, credentialId))
      if (isUsed) await notifyChange(trx, workspaceId, 'checks', workspaceId)
    },
    close: () => analyzer.close(),
  }
}

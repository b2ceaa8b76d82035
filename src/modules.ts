import { findReading } from './exchange/abuse-mails/bounces/bounces.sql.ts'
import { createAbuseModule } from './abuse/module.ts'
import { readSystems } from './abuse/reputation/systems.ts'
import { createAccountsModule } from './accounts/module.ts'
import { accountUsagesRoute, usageRoute } from './accounts/own-data/usage-routes.ts'
import { installedWorkspacesRoutes } from './accounts/workspaces/administration-routes.ts'
import { createExchangeModule } from './exchange/module.ts'
import { createFleetModule } from './fleet/module.ts'
import { createPublicFeedsModule } from './public-feeds/module.ts'
import { createAddressesModule } from './addresses/module.ts'
import { createAlertsModule } from './alerts/module.ts'
import { raiseAlert, raiseResolved } from './alerts/raise.ts'
import type { Config } from './config.ts'
import { createDeliverabilityModule } from './deliverability/module.ts'
import { digestOfDelistings } from './delisting/delisting-digest.sql.ts'
import { createDelistingModule } from './delisting/module.ts'
import { checkBackups } from './diagnostics/backups/check-backups.ts'
import { watchBackups } from './diagnostics/backups/watch-backups.ts'
import { createCheckServices } from './diagnostics/check-services.ts'
import { checkBounces } from './diagnostics/health/check-bounces.ts'
import { healthRoute, type HealthOptions } from './diagnostics/health/service-health.ts'
import { createDiagnosticsModule } from './diagnostics/module.ts'
import { createDigestModule } from './digest/module.ts'
import { createDmarcModule } from './dmarc/module.ts'
import { digestOfDomains } from './domains/domains-digest.sql.ts'
import { createDomainsModule } from './domains/module.ts'
import { createReportRecords } from './domains/report-records.ts'
import type { AuthHooks } from './http/auth.ts'
import { changeRoute } from './http/events/change-route.ts'
import type { Capture } from './http/http-server.ts'
import { overviewRoute } from './http/overview-route.ts'
import { securityTxtRoute } from './http/security-txt.ts'
import { siteRoutes } from './http/site.ts'
import {
  clientAcceptedAlert,
  clientRejectedAlert,
  rejectedAlert,
} from './migration/consent/consent-alerts.ts'
import { isCredentialKept, isCredentialUsed } from './migration/consent/migration-consents.sql.ts'
import { createMigrationModule } from './migration/module.ts'
import { createMailCredentialsModule } from './mail-credentials/module.ts'
import type { AppContext, Module } from './module.ts'
import { createProblemsModule } from './problems/module.ts'
import { createMonitoringModule } from './monitoring/module.ts'
import { readAsnTable } from './protocols/networks/load-asn-table.ts'
import { readStatus } from './store/archive/archive-status.ts'
import type { Db } from './store/database.ts'
import { basePathOf } from './setting-values.ts'
import { createWebhooksModule } from './webhooks/module.ts'

export type Modules = {
  all: Module[]
  authHooks: AuthHooks
  /** The account of a session cookie that was in use lately. */
  ownerOf: (cookie: string | undefined) => string | undefined
  capture: Capture
}

/**
 * Creates every module with what it needs. `undo` closes them in reverse order.
 * @throws Fault when a module cannot start with these settings
 */
export async function createModules(
  context: AppContext,
  undo: AsyncDisposableStack,
): Promise<Modules> {
  const {
    config,
    log,
    db,
    pool,
    notifications,
    secretKey,
    metrics,
    alertOrigins,
    providerOrigins,
  } = context
  const all: Module[] = []
  function add<R extends Module>(module: R): R {
    undo.defer(async () => module.close?.())
    all.push(module)
    return module
  }

  const { authHooks, ownerOf, writeAudit } = add(createAccountsModule(context))
  const opened = createCheckServices(config, log, metrics?.countDnsQuery)
  undo.defer(() => opened.close())
  const { deps: checks } = opened
  for (const warning of checks.blocklists.warnings) log.warn(warning)

  const { resolver, blocklists, allowPrivate } = checks
  const credentials = add(
    createMailCredentialsModule({
      db,
      secretKey,
      resolver,
      allowPrivate,
      config,
      providerOrigins,
      isUsed: isCredentialUsed,
      isKept: isCredentialKept,
      onClientRejected: async (trx, workspaceId, rejected) =>
        void (await raiseAlert(trx, clientRejectedAlert(workspaceId, rejected))),
      onClientAccepted: async (trx, workspaceId, provider) =>
        void (await raiseResolved(trx, clientAcceptedAlert(workspaceId, provider))),
      onProblem: async (trx, { id: credentialId, ...credential }, problem) =>
        void (await raiseAlert(trx, rejectedAlert({ ...credential, credentialId }, problem))),
    }),
  )
  const { openTokens, readToken, clients, startOwnerConsent, eraseCredential } = credentials
  const migration = add(
    createMigrationModule({
      db,
      notifications,
      secretKey,
      resolver,
      allowPrivate,
      openTokens,
      ownerPages: { baseUrl: config.BASE_URL, clients, startOwnerConsent, eraseCredential },
      concurrency: config.MIGRATION_CONCURRENCY,
    }),
  )
  credentials.addUser(migration)
  const { ASN_DB_PATH: asnPath = null } = config
  const systems = asnPath === null || asnPath === 'none' ? null : readAsnTable(asnPath)
  const { REPORTS_URL: reportsUrl, BASE_URL: baseUrl } = config
  const { publicFeeds } = add(
    await createPublicFeedsModule({
      db,
      notifications,
      log,
      resolver,
      allowPrivate,
      providerOrigins,
    }),
  )
  const keys = { secretKey, previousKey: config.SECRET_KEY_PREVIOUS }
  const abuse = add(
    await createAbuseModule({
      ...keys,
      db,
      pool,
      notifications,
      log,
      reportsUrl,
      baseUrl,
      systems: readSystems(asnPath === 'none' ? 'none' : systems),
      publicFeeds,
      onReport: metrics?.countAttackReport,
    }),
  )
  const { list } = abuse
  const { fleets } = add(createFleetModule({ list, publicFeeds, notifications, baseUrl, resolver }))
  add(
    await createExchangeModule({
      ...keys,
      list,
      fleets,
      notifications,
      baseUrl,
      resolver,
      allowPrivate,
      mailRelay: config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null,
      returnPath: config.ABUSE_RETURN_PATH ?? null,
      bounceMailbox: config.ABUSE_RETURN_MAILBOX ?? null,
      providerOrigins,
    }),
  )
  const onReports = metrics?.countMailReports
  const dmarc = add(
    createDmarcModule({
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
      findReportRecords: createReportRecords({ resolver, allowPrivate, log }),
    }),
  )
  credentials.addUser(dmarc)
  const { selectorsSeen, reportEmailOf, safePolicyOf } = dmarc
  const diagnostics = add(
    createDiagnosticsModule({ ...checks, db, secretKey, selectorsSeen, baseUrl: config.BASE_URL }),
  )
  add({
    routes: {
      administrator: (app, { queue }) =>
        healthRoute(app, {
          db,
          queue,
          resolver,
          blocklists,
          checks: checksOf(config, db),
        }),
    },
    ...(config.BACKUP_ARCHIVE && {
      startWork: () => watchBackups({ db, dataDir: config.DATA_DIR, log }),
    }),
  })
  const monitoring = add(
    createMonitoringModule({
      db,
      resolver,
      blocklists,
      config,
      log,
      onChecked: metrics?.countHostCheck,
    }),
  )
  const delisting = add(
    createDelistingModule({ db, blocklists, resolver, raiseAlert, config, log }),
  )
  add(
    createAddressesModule({
      sends: dmarc.addressUses,
      monitoring: (workspaceId, { key }) => monitoring.describeAddress(workspaceId, key),
      delistings: delisting.delistingsOf,
      reporting: (workspaceId, address) => abuse.describeAddress(workspaceId, address),
    }),
  )
  const domains = add(
    createDomainsModule({
      ...checks,
      db,
      secretKey,
      selectorsSeen,
      reportEmailOf,
      safePolicyOf,
      hostSweep: monitoring.sweep,
      servers: context.registries,
      sendsMail: config.SMTP_URL !== undefined,
    }),
  )
  const deliverability = add(
    createDeliverabilityModule({
      db,
      notifications,
      log,
      secretKey,
      resolver,
      blocklists,
      config,
      allowPrivate,
      openTokens,
      readToken,
      clients,
      eraseCredential,
      providerOrigins,
      lookUpRegistration: (...given) => domains.registrations.lookUp(...given),
      addressUses: dmarc.addressUses,
      listMailboxes: dmarc.mailboxes.list,
      readMailboxes: dmarc.mailboxes.read,
    }),
  )
  credentials.addUser(deliverability)
  for (const receiver of deliverability.mailReceivers) dmarc.receiveMail(receiver)
  add(createProblemsModule({ db, secretKey, config, log }))
  add(
    createAlertsModule({
      db,
      notifications,
      secretKey,
      resolver,
      config,
      log,
      writeAudit,
      onAttempt: metrics?.countAlertAttempt,
      ...(alertOrigins && { origins: alertOrigins }),
    }),
  )
  const digestReaders = { domains: digestOfDomains, delistings: digestOfDelistings }
  add(createDigestModule({ db, readers: digestReaders, secretKey, config, log }))
  const webhooks = add(
    createWebhooksModule({
      ...context,
      resolver,
      onOutcome: metrics?.countCapture,
      onAttempt: metrics?.countForwardingAttempt,
      onDeliveryEnd: metrics?.countForwardingEnd,
      onRemoved: metrics?.countRemovedCaptures,
      onSpace: metrics?.setFreeBytes,
    }),
  )
  dmarc.receiveMail(webhooks.emails)
  const readers = {
    captures: webhooks.usage,
    reportFiles: dmarc.fileUsage,
    sharedChecks: diagnostics.sharedUsage,
  }
  add({
    routes: {
      account: (app) => usageRoute(app, { db, readers }),
      administrator(app) {
        accountUsagesRoute(app, { db, readers })
        installedWorkspacesRoutes(app, { db, readers })
      },
    },
  })
  add({
    routes: {
      account(app, { reauthenticate }) {
        changeRoute(app, { reauthenticate, notifications })
        overviewRoute(app)
      },
    },
  })
  add({
    routes: {
      public(app) {
        securityTxtRoute(app, { contacts: config.SECURITY_CONTACT, baseUrl })
        siteRoutes(app, { basePath: basePathOf(baseUrl), isDemo: config.DEMO })
      },
    },
  })
  return { all, authHooks, ownerOf, capture: webhooks.capture }
}

/** Checks of the parts that the settings switch on, for the health of the service. */
function checksOf(config: Config, db: Db): HealthOptions['checks'] {
  const { BACKUP_ARCHIVE, ABUSE_RETURN_MAILBOX: mailbox } = config
  return [
    ...(BACKUP_ARCHIVE
      ? [async () => checkBackups(readStatus(config.DATA_DIR), config, new Date())]
      : []),
    ...(mailbox ? [async () => checkBounces(await findReading(db, mailbox))] : []),
  ]
}

import { findReading } from './abuse/abuse-mails/bounces/store.ts'
import { createAbuseModule } from './abuse/module.ts'
import { readSystems } from './abuse/reputation/systems.ts'
import { createAccountsModule } from './accounts/module.ts'
import { accountUsagesRoute, usageRoute } from './accounts/own-data/usage-routes.ts'
import { installedWorkspacesRoutes } from './accounts/workspaces/administration-routes.ts'
import { createAlertsModule } from './alerts/module.ts'
import { raiseAlert, raiseResolved } from './alerts/raise.ts'
import type { Config } from './config.ts'
import { digestOfDelistings } from './delisting/digest/store.ts'
import { createDelistingModule } from './delisting/module.ts'
import { checkBackups } from './diagnostics/backups/check-backups.ts'
import { watchBackups } from './diagnostics/backups/watch-backups.ts'
import { createCheckServices } from './diagnostics/check-services.ts'
import { checkBounces } from './diagnostics/health/check-bounces.ts'
import { healthRoute, type HealthOptions } from './diagnostics/health/health.ts'
import { createDiagnosticsModule } from './diagnostics/module.ts'
import { createDigestModule } from './digest/module.ts'
import { createDmarcModule } from './dmarc/module.ts'
import { digestOfDomains } from './domains/digest/store.ts'
import { createDomainsModule } from './domains/module.ts'
import type { AuthHooks } from './http/auth.ts'
import { changeRoute } from './http/events/change-route.ts'
import type { Capture } from './http/server.ts'
import { overviewRoute } from './http/overview-route.ts'
import { securityTxtRoute } from './http/security-txt.ts'
import { siteRoutes } from './http/site.ts'
import {
  clientAcceptedAlert,
  clientRejectedAlert,
  rejectedAlert,
} from './migration/consent/alerts.ts'
import { isCredentialKept, isCredentialUsed } from './migration/consent/store.ts'
import { createMigrationModule } from './migration/module.ts'
import { createMailCredentialsModule } from './mail-credentials/module.ts'
import type { AppContext, Module } from './module.ts'
import { createMonitoringModule } from './monitoring/module.ts'
import { readAsnTable } from './protocols/networks/load-asn-table.ts'
import { readStatus } from './store/archive/status.ts'
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
  const { openTokens, clients, startOwnerConsent, eraseCredential } = add(
    createMailCredentialsModule({
      db,
      secretKey,
      resolver,
      allowPrivate,
      config,
      isUsed: isCredentialUsed,
      isKept: isCredentialKept,
      async onRenewed(...renewed) {
        await migration.onCredentialRenewed(...renewed)
        await dmarc.onCredentialRenewed(...renewed)
      },
      owner: {
        verify: (...given) => migration.owner.verify(...given),
        accept: (...given) => migration.owner.accept(...given),
      },
      onClientRejected: async (trx, workspaceId, rejected) =>
        void (await raiseAlert(trx, clientRejectedAlert(workspaceId, rejected))),
      onClientAccepted: async (trx, workspaceId, provider) =>
        void (await raiseResolved(trx, clientAcceptedAlert(workspaceId, provider))),
      onProblem: async (trx, { id: credentialId, ...credential }, problem) =>
        void (await raiseAlert(trx, rejectedAlert({ ...credential, credentialId }, problem))),
    }),
  )
  const migration: ReturnType<typeof createMigrationModule> = add(
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
  const { ASN_DB_PATH: asnPath = null } = config
  const systems = asnPath === null || asnPath === 'none' ? null : readAsnTable(asnPath)
  const { REPORTS_URL: reportsUrl, BASE_URL: baseUrl } = config
  add(
    await createAbuseModule({
      db,
      pool,
      notifications,
      log,
      secretKey,
      previousKey: config.SECRET_KEY_PREVIOUS,
      reportsUrl,
      baseUrl,
      systems: readSystems(asnPath === 'none' ? 'none' : systems),
      resolver,
      allowPrivate,
      mailRelay: config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null,
      returnPath: config.ABUSE_RETURN_PATH ?? null,
      bounceMailbox: config.ABUSE_RETURN_MAILBOX ?? null,
      providerOrigins,
      onReport: metrics?.countAttackReport,
    }),
  )
  const onReports = metrics?.countMailReports
  const dmarc: ReturnType<typeof createDmarcModule> = add(
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
    }),
  )
  const { selectorsSeen, reportEmailOf } = dmarc
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
  add(createDelistingModule({ db, blocklists, resolver, raiseAlert, config, log }))
  add(
    createDomainsModule({
      ...checks,
      db,
      secretKey,
      selectorsSeen,
      reportEmailOf,
      hostSweep: monitoring.sweep,
      sendsMail: config.SMTP_URL !== undefined,
    }),
  )
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
      onOutcome: metrics?.countCapture,
      onRemoved: metrics?.countRemovedCaptures,
      onSpace: metrics?.setFreeBytes,
    }),
  )
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
        siteRoutes(app, { basePath: basePathOf(baseUrl) })
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

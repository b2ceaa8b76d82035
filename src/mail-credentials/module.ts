import type { Kysely, Transaction } from 'kysely'
import type { Config } from '../config.ts'
import type { PrivateTargets } from '../setting-values.ts'
import type { Routes } from '../http/scopes.ts'
import type { RouteContext } from '../module.ts'
import type { Resolver } from '../net/dns.ts'
import { createGuardedFetch, throughOrigins } from '../net/http/guarded-fetch.ts'
import { futureTimestamps } from '../store/clock.ts'
import type { DB } from '../store/tables.ts'
import { DAY_SECONDS } from '../time.ts'
import { createAccessTokens, type OnClientRejected, type OnProblem } from './access-token.ts'
import { createAdministratorTokens } from './administrator/administrator-tokens.ts'
import { createClients } from './clients/clients.ts'
import { recheckClientsJob, type RecheckDeps } from './clients/recheck.ts'
import { clientRoutes } from './clients/routes.ts'
import type { Enqueue } from '../jobs/job.ts'
import { callbackRoute, CALLBACK_PATH } from './consent/callback-route.ts'
import { createOwnerConsents, type Owner, type OwnerHooks } from './consent/owner.ts'
import { createEraseCredential } from './erase-credential.ts'
import {
  cleanUpCredentialsJob,
  recheckAdministratorsJob,
  type CleanUpDeps,
  type OnRenewed,
} from './mail-credentials-jobs.ts'
import { CONSENT_SECONDS, KEEP_DAYS, REQUEST_TIMEOUT_MS } from './limits.ts'
import type { ProviderConfig } from './providers.ts'
import { credentialRoutes } from './routes.ts'
import { createTokenSource } from './token-source.ts'

export type MailCredentialsOptions = {
  db: Kysely<DB>
  secretKey: string
  resolver: Resolver
  allowPrivate: PrivateTargets
  config: ProviderConfig & Pick<Config, 'BASE_URL'>
  /** Other origins of providers, for tests. */
  providerOrigins?: ReadonlyMap<string, string> | undefined
  isUsed: (trx: Transaction<DB>, workspaceId: string, credentialId: string) => Promise<boolean>
  /** Whether work without an end of its own uses a credential. */
  isKept: CleanUpDeps['isKept']
  /** Reports that a provider rejects the client of this service, or accepts it again. */
  onClientRejected: OnClientRejected
  onClientAccepted: RecheckDeps['onClientAccepted']
  /** Reports why an administrator’s credential was rejected. */
  onProblem: OnProblem
}

/** A module that works with credentials. */
export type CredentialUser = {
  /** Continues what waited for a credential. */
  onCredentialRenewed: OnRenewed
  /** What the sign-ins of owners of mailboxes are for. */
  owner?: {
    verify: OwnerHooks['verify']
    accept: (
      trx: Transaction<DB>,
      owner: Owner,
      credentialId: string,
      enqueue: Enqueue,
    ) => Promise<{ path: string }>
  }
}

const FUTURE_TIMESTAMPS = futureTimestamps('database', [
  ['mail_credential', 'access_expires_at', DAY_SECONDS],
  ['mail_credential', 'keep_until', KEEP_DAYS.used * DAY_SECONDS],
  ['mail_consent', 'expires_at', CONSENT_SECONDS],
])

/** Creates the module of sign-ins to mailboxes that people allow at the providers (OAuth). */
export function createMailCredentialsModule(options: MailCredentialsOptions) {
  const { db, secretKey, config, isUsed, isKept, onProblem } = options
  const guardedFetch = throughOrigins(
    createGuardedFetch(options, REQUEST_TIMEOUT_MS),
    options.providerOrigins,
  )
  const clients = createClients({ db, secretKey, config, guardedFetch })
  const redirectUri = `${config.BASE_URL}${CALLBACK_PATH}`
  const baseUrl = config.BASE_URL
  const deps = { db, secretKey, clients, guardedFetch, redirectUri, baseUrl, isUsed, onProblem }
  const users: CredentialUser[] = []
  const onRenewed: OnRenewed = async (...renewed) => {
    for (const user of users) await user.onCredentialRenewed(...renewed)
  }
  const withQueue = ({ queue }: Pick<RouteContext, 'queue'>) => ({
    ...deps,
    onRenewed: (trx: Transaction<DB>, workspaceId: string, credentialId: string) =>
      onRenewed(trx, { workspaceId, credentialId }, queue.enqueue),
  })
  const ownersOf = () => {
    const owners = users.find(({ owner }) => owner !== undefined)?.owner
    if (!owners) throw new TypeError('no module uses sign-ins of owners')
    return owners
  }
  const { onClientRejected, onClientAccepted } = options
  const recheckJob = recheckClientsJob({ ...deps, onRenewed, onClientAccepted })
  const readToken = createAccessTokens({ ...deps, onClientRejected })
  return {
    jobs: [
      recheckJob,
      cleanUpCredentialsJob({ db, isKept }),
      recheckAdministratorsJob({ ...deps, onRenewed }),
    ],
    futureTimestamps: FUTURE_TIMESTAMPS,
    // Until then, pages can read how a sign-in ended.
    retention: [{ table: 'mail_consent', column: 'expires_at', days: 1 / 24 }],
    routes: {
      public: (app, context) =>
        callbackRoute(app, {
          ...withQueue(context),
          reauthenticate: context.reauthenticate,
          owner: {
            verify: (...given) => ownersOf().verify(...given),
            accept: (trx, owner, credentialId) =>
              ownersOf().accept(trx, owner, credentialId, context.queue.enqueue),
          },
        }),
      account: (app, context) => credentialRoutes(app, withQueue(context)),
      administrator: (app, { queue }) =>
        clientRoutes(app, { db, secretKey, config, redirectUri, queue, recheckJob }),
    } satisfies Routes<Pick<RouteContext, 'queue' | 'reauthenticate'>>,
    /** Adds a module that goes on when a credential is renewed. One of them serves owners. */
    addUser: (user: CredentialUser) => void users.push(user),
    startOwnerConsent: createOwnerConsents(deps),
    eraseCredential: createEraseCredential(deps),
    clients,
    openTokens: createTokenSource(deps, readToken, createAdministratorTokens(deps)),
    /** Returns access tokens of sign-ins that open no mailbox. */
    readToken,
  }
}

import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import { encrypt } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import {
  acceptsCertificate,
  configuredProviders,
  offeredProviders,
  PROVIDER_IDS,
  type ProviderConfig,
  type ProviderId,
} from '../providers.ts'
import { readValidCertificate, shownCertificate } from './client-certificate.ts'
import { clientContext, clientKeyContext } from './clients.ts'
import { ClientChange, MailClients } from './shapes.ts'
import {
  deleteClient,
  findClientOf,
  listClientProblems,
  listClients,
  saveClient,
  type ClientRow,
} from './oauth-clients.sql.ts'

export type ClientRoutesDeps = {
  db: Kysely<DB>
  secretKey: string
  config: ProviderConfig
  redirectUri: string
  queue: Queue
  /** Continues what waits for a client that was rejected. */
  recheckJob: Job
}

const params = Type.Object({ provider: Type.Enum([...PROVIDER_IDS]) })

/** `/api/v1/imap/oauth/clients`: the clients of this service at the providers, for administrators. */
export function clientRoutes(app: App, deps: ClientRoutesDeps): void {
  const { db, config, queue, recheckJob } = deps
  app.get(
    '/api/v1/imap/oauth/clients',
    {
      schema: {
        summary: 'List the clients of this service at providers of mailboxes',
        description:
          'Requires an administrator. Client secrets and private keys are never returned.',
        operationId: 'listMailClients',
        response: responses(Success(MailClients)),
      },
    },
    async () => ({ success: true, data: await listShown(deps) }),
  )
  app.put(
    '/api/v1/imap/oauth/clients/:provider',
    {
      schema: {
        summary: 'Set the client of this service at a provider',
        description:
          'Requires a session of an administrator who entered the password within the last ten minutes. The secret or private key is stored encrypted. Settings of the environment win.',
        operationId: 'setMailClient',
        params,
        body: ClientChange,
        response: responses(Success(MailClients)),
      },
    },
    async (request) => {
      const { provider } = request.params
      requireOpen(config, provider)
      await setClient(deps, provider, request.body, callerOf(request).accountId)
      await queue.enqueue(db, recheckJob, {})
      return { success: true, data: await listShown(deps) }
    },
  )
  app.delete(
    '/api/v1/imap/oauth/clients/:provider',
    {
      schema: {
        summary: 'Delete the client of this service at a provider',
        description:
          'Requires a session of an administrator who entered the password within the last ten minutes. Permissions that people gave to it can no longer be used.',
        operationId: 'deleteMailClient',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      if (!(await deleteClient(db, request.params.provider)))
        throw new Fault('not_found', 'No client was entered for this provider.')
      return { success: true }
    },
  )
}

/** @throws Fault `conflict` where the environment has a client, `invalid_request` for an unknown one */
function requireOpen(config: ProviderConfig, id: ProviderId): void {
  if (configuredProviders(config).some((provider) => provider.id === id))
    throw new Fault(
      'conflict',
      `OAUTH_${id.toUpperCase()}_CLIENT_ID is set in the environment. Change it there.`,
    )
  if (!offeredProviders(config).some((provider) => provider.id === id))
    throw new Fault(
      'invalid_request',
      'Set OAUTH_OTHER_HOSTS, OAUTH_OTHER_SCOPE and OAUTH_OTHER_ISSUER in the environment first.',
    )
}

async function setClient(
  { db, secretKey }: ClientRoutesDeps,
  provider: ProviderId,
  { clientId, tenant, ...given }: ClientChange,
  accountId: string,
): Promise<void> {
  const before = await findClientOf(db, provider)
  const id = before?.id ?? newUuid()
  // What is left out stays, for the same client.
  const kept = before?.clientId === clientId ? before : undefined
  const secrets = encryptedSecrets(provider, given, { secretKey, id }) ?? {
    sealed: kept?.sealed ?? null,
    certificate: kept?.certificate ?? null,
    sealedKey: kept?.sealedKey ?? null,
  }
  await saveClient(db, { id, provider, clientId, ...secrets, tenant: tenant ?? null }, accountId)
}

/**
 * The columns of a given secret or certificate; null without either.
 * @throws Fault `invalid_request`
 */
function encryptedSecrets(
  provider: ProviderId,
  { clientSecret, clientCertificate }: Pick<ClientChange, 'clientSecret' | 'clientCertificate'>,
  { secretKey, id }: { secretKey: string; id: string },
): Pick<ClientRow, 'sealed' | 'certificate' | 'sealedKey'> | null {
  const path = 'clientCertificate'
  if (clientCertificate === undefined)
    return clientSecret === undefined
      ? null
      : {
          sealed: encrypt(clientSecret, secretKey, clientContext(id)),
          certificate: null,
          sealedKey: null,
        }
  if (clientSecret !== undefined)
    throw new Fault('invalid_request', 'Enter a client secret or a certificate, not both.')
  if (!acceptsCertificate(provider))
    throw new Fault('invalid_request', `${path} is accepted for microsoft and other only.`)
  const { certificate, privateKey } = readValidCertificate(clientCertificate, path)
  const sealedKey = encrypt(privateKey, secretKey, clientKeyContext(id))
  return { sealed: null, certificate, sealedKey }
}

async function listShown({ db, config, redirectUri }: ClientRoutesDeps) {
  const fromEnvironment = new Map(
    configuredProviders(config).map((provider) => [provider.id, provider]),
  )
  const rows = new Map((await listClients(db)).map((row) => [row.provider, row]))
  const problems = new Map((await listClientProblems(db)).map((row) => [row.provider, row]))
  const clients = offeredProviders(config).map(({ id, name, hosts }) => {
    const set = fromEnvironment.get(id)
    const row = rows.get(id)
    const clientId = set?.clientId ?? row?.clientId ?? null
    const certificate = set ? set.clientCertificate?.certificate : row?.certificate
    return {
      provider: id,
      name,
      hosts,
      origin: set ? ('environment' as const) : row ? ('dashboard' as const) : null,
      clientId,
      certificate: certificate ? shownCertificate(certificate) : null,
      acceptsCertificate: acceptsCertificate(id),
      hasSecret: set ? set.clientSecret !== undefined : Boolean(row?.sealed),
      tenant: id === 'microsoft' ? (row?.tenant ?? config.OAUTH_MICROSOFT_TENANT) : null,
      problem: clientId === null ? null : (problems.get(id)?.problem ?? null),
    }
  })
  return { clients, redirectUri }
}

import { readConfig } from '../../config.ts'
import { requireAdministratorProvider } from '../../mail-credentials/administrator/administrator-provider.ts'
import type { AdministratorSecret } from '../../mail-credentials/administrator/secret.ts'
import { readServiceAccount } from '../../mail-credentials/administrator/service-account.ts'
import { createTokenCache } from '../../mail-credentials/administrator/token-cache.ts'
import { requestAdministratorToken } from '../../mail-credentials/administrator/token-request.ts'
import { readValidCertificate } from '../../mail-credentials/clients/client-certificate.ts'
import { createConfiguredClients } from '../../mail-credentials/clients/configured-clients.ts'
import { REQUEST_TIMEOUT_MS } from '../../mail-credentials/limits.ts'
import { toFault } from '../../mail-credentials/oauth-problem.ts'
import { KNOWN_HOSTS } from '../../mail-credentials/providers.ts'
import type { FreshToken } from '../../mail-credentials/token-source.ts'
import type { Resolver } from '../../net/dns.ts'
import { createGuardedFetch } from '../../net/http/guarded-fetch.ts'
import { UsageError } from '../command.ts'
import { readTextFile } from '../secret-file.ts'

/** How the flags of a side name a sign-in for all mailboxes. */
export type AdministratorFlags = {
  /** The key file of a service account. */
  serviceAccount?: string | undefined
  /** `TENANT/CLIENT_ID` of an application. */
  app?: string | undefined
  /** The PEM file with the certificate and key of the application, in place of its secret. */
  appCertificate?: string | undefined
}

/** Whether a side signs in with tokens of an administrator. */
export function hasAdministrator({
  serviceAccount,
  app,
  appCertificate,
}: AdministratorFlags): boolean {
  return (serviceAccount ?? app ?? appCertificate) !== undefined
}

/** Opens the tokens of the mailboxes of a side. */
export type OpenMailboxTokens = (mailbox: { host: string; user: string }) => FreshToken

/**
 * Signs in to all mailboxes of a side with a service account or an application. Tokens are lost when
 * the command ends.
 * @param readSecret reads the secret of an application
 * @throws UsageError, Fault
 */
export async function openAdministrator(
  flags: AdministratorFlags,
  resolver: Resolver,
  readSecret: () => Promise<string>,
): Promise<OpenMailboxTokens> {
  const secret = await secretOf(flags, readSecret)
  // The user of this terminal can connect to private addresses anyway.
  const guardedFetch = createGuardedFetch({ resolver, allowPrivate: true }, REQUEST_TIMEOUT_MS)
  const clients = createConfiguredClients(readConfig(), guardedFetch)
  const cache = createTokenCache()

  async function requestFor(host: string, user: string) {
    const id = KNOWN_HOSTS.find(({ hosts }) => hosts.includes(host.toLowerCase()))?.id ?? 'other'
    const provider = await requireAdministratorProvider(clients, id, secret)
    if (!provider.hosts.includes(host.toLowerCase()))
      throw new UsageError(
        `This sign-in is for the servers of ${provider.name} only: ${provider.hosts.join(', ')}.`,
      )
    return requestAdministratorToken(provider, secret, user, guardedFetch)
  }

  return ({ host, user }) =>
    (rejected) =>
      cache
        .get(secret.kind === 'app' ? host : `${host} ${user}`, rejected, () =>
          requestFor(host, user),
        )
        .catch((error: unknown) => {
          throw toFault(error)
        })
}

async function secretOf(
  { serviceAccount, app = '', appCertificate }: AdministratorFlags,
  readSecret: () => Promise<string>,
): Promise<AdministratorSecret> {
  if (serviceAccount !== undefined) {
    const account = await readServiceAccount(readTextFile(serviceAccount))
    return { kind: 'service_account', account }
  }
  const [tenant = '', clientId = '', ...rest] = app.split('/')
  if (!tenant || !clientId || rest.length > 0)
    throw new UsageError('An application must be TENANT/CLIENT_ID.')
  if (appCertificate === undefined)
    return { kind: 'app', app: { tenant, clientId, clientSecret: await readSecret() } }
  const clientCertificate = readValidCertificate(readTextFile(appCertificate), appCertificate)
  return { kind: 'app', app: { tenant, clientId, clientCertificate } }
}

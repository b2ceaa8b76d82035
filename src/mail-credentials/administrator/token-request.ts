import * as oidc from 'openid-client'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { describeExpiry } from '../clients/client-certificate.ts'
import { lifetimeOf, openClient } from '../oauth-client.ts'
import { OAuthRejected } from '../oauth-problem.ts'
import type { MailProvider } from '../providers.ts'
import { describeAdministratorFailure } from './problems.ts'
import type { AdministratorSecret } from './secret.ts'
import { signAssertion } from './service-account.ts'

/** An access token, and seconds for which it is valid. */
export type AdministratorToken = { accessToken: string; lifetimeSeconds: number }

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** The assertion authenticates the request (RFC 7523, 2.1). */
const NO_CLIENT_AUTHENTICATION: oidc.ClientAuth = () => {}

/**
 * Gets an access token with an administrator’s credential: of one mailbox with a service account
 * (RFC 7523), of all mailboxes with an application (RFC 6749, 4.4).
 * @throws OAuthRejected of the kind `consent` when the administrator must change something; Fault
 */
export async function requestAdministratorToken(
  provider: MailProvider,
  secret: AdministratorSecret,
  user: string,
  guardedFetch: GuardedFetch,
): Promise<AdministratorToken> {
  const scope = provider.mailScopes.join(' ')
  requireValidCertificate(secret)
  try {
    const tokens =
      secret.kind === 'app'
        ? await requestOfApp(provider, scope, guardedFetch)
        : await requestOfServiceAccount(provider, secret.account, { user, scope }, guardedFetch)
    return { accessToken: tokens.access_token, lifetimeSeconds: lifetimeOf(tokens) }
  } catch (error) {
    throw describeAdministratorFailure(error, { secret, provider, user })
  }
}

/** @throws OAuthRejected, in place of a rejection by the provider that is harder to understand */
function requireValidCertificate(secret: AdministratorSecret): void {
  if (secret.kind !== 'app' || !secret.app.clientCertificate) return
  const problem = describeExpiry(secret.app.clientCertificate)
  if (problem === null) return
  const message = `${problem} Enter another one for the application ${secret.app.clientId}.`
  throw new OAuthRejected({ kind: 'consent', message })
}

async function requestOfApp(provider: MailProvider, scope: string, guardedFetch: GuardedFetch) {
  const client = await openClient(provider, guardedFetch)
  return oidc.clientCredentialsGrant(client, { scope })
}

async function requestOfServiceAccount(
  provider: MailProvider,
  account: Parameters<typeof signAssertion>[0],
  { user, scope }: { user: string; scope: string },
  guardedFetch: GuardedFetch,
) {
  const client = await openClient(provider, guardedFetch, NO_CLIENT_AUTHENTICATION)
  const audience = client.serverMetadata().token_endpoint ?? provider.issuer
  const assertion = await signAssertion(account, { user, scope, audience })
  return oidc.genericGrantRequest(client, JWT_BEARER, { assertion })
}

import * as oidc from 'openid-client'
import { invalidField } from '../errors.ts'
import type { GuardedFetch } from '../net/http/guarded-fetch.ts'
import { DAY_SECONDS, HOUR_MS, HOUR_SECONDS } from '../time.ts'
import { authenticationOf } from './clients/authentication.ts'
import { describeExpiry } from './clients/client-certificate.ts'
import { describeFailure, explainLateCode, OAuthRejected } from './oauth-problem.ts'
import { identifiesPerson, providerFor, type MailProvider, type Purpose } from './providers.ts'

/** What must come back unchanged with the answer of the provider. */
export type Checks = { state: string; nonce: string; verifier: string }

/** The tokens of a permission. */
export type Tokens = {
  accessToken: string
  refreshToken: string
  /** Seconds that the access token is valid. */
  lifetimeSeconds: number
}

/** A permission, and whose mailbox it is for as far as the provider says so. */
export type Grant = Tokens & { person: { subject: string; account: string } | null }

export type DeviceCode = Awaited<ReturnType<typeof oidc.initiateDeviceAuthorization>>

/** RFC 6749, 5.1: a provider should send it. The IMAP server decides anyway. */
const DEFAULT_LIFETIME_SECONDS = HOUR_SECONDS

/** A provider may change its endpoints. */
const METADATA_LIFETIME_MS = HOUR_MS

export type OAuthClient = ReturnType<typeof createOAuthClient>

/**
 * Talks to the provider of a mailbox: authorization code with PKCE (RFC 7636), device code (RFC
 * 8628), and refresh. Its metadata are fetched at the first use.
 * @throws (all functions) OAuthRejected, Fault `upstream_unreachable`, `upstream_timeout`,
 *   `target_not_allowed`
 */
export function createOAuthClient(provider: MailProvider, guardedFetch: GuardedFetch) {
  let known: { client: Promise<oidc.Configuration>; until: number } | null = null

  function clientOf(): Promise<oidc.Configuration> {
    if (known && known.until > performance.now()) return known.client
    const client = openClient(provider, guardedFetch)
    const entry = { client, until: performance.now() + METADATA_LIFETIME_MS }
    known = entry
    client.catch(() => {
      if (known === entry) known = null
    })
    return client
  }

  // The clients that are known to work with such a provider send it with every request for tokens.
  const tokenParameters = new URLSearchParams(
    provider.loopbackUri === undefined ? {} : { scope: scopeOf(provider) },
  )

  async function ask<T>(
    question: (client: oidc.Configuration) => Promise<T>,
    asked = provider,
  ): Promise<T> {
    requireValidCertificate(provider)
    try {
      return await question(await clientOf())
    } catch (error) {
      throw describeFailure(error, asked)
    }
  }

  return {
    provider,

    /**
     * Begins a sign-in in a browser.
     * @param user the account that the provider suggests
     * @throws Fault `invalid_request` when the provider offers no sign-in for the purpose
     */
    async start(
      redirectUri: string,
      user: string | null,
      purpose: Purpose = 'mailbox',
    ): Promise<{ url: string; checks: Checks }> {
      const asked = requireOffered(provider, purpose)
      return ask(async (client) => {
        const checks = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        }
        const url = oidc.buildAuthorizationUrl(client, {
          ...provider.parameters,
          redirect_uri: redirectUri,
          scope: scopeOf(asked),
          state: checks.state,
          ...(identifiesPerson(provider) && { nonce: checks.nonce }),
          ...(user !== null && { login_hint: user }),
          code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
        })
        return { url: url.href, checks }
      }, asked)
    },

    /**
     * Exchanges the code that a browser brought back.
     * @param answer the redirect URI with its query
     */
    async finish(answer: URL, checks: Checks, purpose: Purpose = 'mailbox'): Promise<Grant> {
      const asked = requireOffered(provider, purpose)
      return ask(async (client) => {
        const expected = {
          expectedState: checks.state,
          pkceCodeVerifier: checks.verifier,
          ...(identifiesPerson(provider) && { expectedNonce: checks.nonce }),
        }
        const tokens = await oidc
          .authorizationCodeGrant(client, answer, expected, tokenParameters)
          .catch((error: unknown) => {
            throw explainLateCode(error, provider) ?? error
          })
        return grantOf(tokens, asked)
      }, asked)
    },

    /** Whether people can sign in on another device. */
    offersDeviceCode: (): Promise<boolean> =>
      ask(
        async (client) =>
          provider.hasDeviceCode &&
          client.serverMetadata().device_authorization_endpoint !== undefined,
      ),

    /** Begins a sign-in on another device. */
    startDevice: (): Promise<DeviceCode> =>
      ask((client) => oidc.initiateDeviceAuthorization(client, { scope: scopeOf(provider) })),

    /** Waits until the person has signed in on the other device. */
    finishDevice: (code: DeviceCode, signal: AbortSignal): Promise<Grant> =>
      ask(async (client) =>
        grantOf(
          await oidc.pollDeviceAuthorizationGrant(client, code, undefined, { signal }),
          provider,
        ),
      ),

    /** Ends a permission at the provider (RFC 7009); false where it does not offer that. */
    revoke: (refreshToken: string): Promise<boolean> =>
      ask(async (client) => {
        if (client.serverMetadata().revocation_endpoint === undefined) return false
        await oidc.tokenRevocation(client, refreshToken, { token_type_hint: 'refresh_token' })
        return true
      }),

    /** Gets a new access token. The refresh token may be replaced; the old one is then invalid. */
    refresh: (refreshToken: string): Promise<Tokens> =>
      ask(async (client) => {
        const tokens = await oidc.refreshTokenGrant(client, refreshToken, tokenParameters)
        return {
          accessToken: tokens.access_token,
          refreshToken: tokens.refresh_token ?? refreshToken,
          lifetimeSeconds: lifetimeOf(tokens),
        }
      }),
  }
}

const scopeOf = ({ mailScopes, otherScopes }: MailProvider) =>
  [...mailScopes, ...otherScopes].join(' ')

function requireOffered(provider: MailProvider, purpose: Purpose): MailProvider {
  const offered = providerFor(provider, purpose)
  if (offered) return offered
  throw invalidField('purpose', `is not offered by ${provider.name}`)
}

/** @throws OAuthRejected, in place of a rejection by the provider that is harder to understand */
function requireValidCertificate({ name, clientCertificate }: MailProvider): void {
  const problem = clientCertificate && describeExpiry(clientCertificate)
  if (!problem) return
  throw new OAuthRejected({
    kind: 'client',
    isClientRejected: true,
    message: `${problem} An administrator of this service must replace it for ${name} (Administration, Mail providers).`,
  })
}

/** @param given in place of the client’s secret or certificate */
export async function openClient(
  provider: MailProvider,
  guardedFetch: GuardedFetch,
  given?: oidc.ClientAuth,
): Promise<oidc.Configuration> {
  const { issuer, endpoints, clientId, clientSecret, loopbackUri } = provider
  const authentication = given ?? (await authenticationOf(provider))
  // The operator names the provider; http serves one in a private network.
  const isInsecure = (endpoints?.token ?? issuer).startsWith('http:')
  const customFetch = withRedirectUri(
    withoutChallenges(guardedFetch),
    loopbackUri,
  ) as oidc.CustomFetch
  if (endpoints === null)
    return oidc.discovery(new URL(issuer), clientId, clientSecret, authentication, {
      [oidc.customFetch]: customFetch,
      execute: isInsecure ? [oidc.allowInsecureRequests] : [],
    })
  const metadata = {
    issuer,
    authorization_endpoint: endpoints.authorization,
    token_endpoint: endpoints.token,
    ...(endpoints.device !== undefined && { device_authorization_endpoint: endpoints.device }),
  }
  const client = new oidc.Configuration(metadata, clientId, clientSecret, authentication)
  client[oidc.customFetch] = customFetch
  if (isInsecure) oidc.allowInsecureRequests(client)
  return client
}

/** The library writes `http://localhost` with a slash, which was not in the authorization request. */
function withRedirectUri(guardedFetch: GuardedFetch, uri: string | undefined): GuardedFetch {
  if (uri === undefined) return guardedFetch
  return (url, init) => {
    if (init.body instanceof URLSearchParams && init.body.has('redirect_uri'))
      init.body.set('redirect_uri', uri)
    return guardedFetch(url, init)
  }
}

/** Beside a challenge, the library does not read the error in the body. */
function withoutChallenges(guardedFetch: GuardedFetch): GuardedFetch {
  return async (url, init) => {
    const response = await guardedFetch(url, init)
    if (!response.headers.has('www-authenticate')) return response
    const headers = new Headers(response.headers)
    headers.delete('www-authenticate')
    return new Response(response.body, { status: response.status, headers })
  }
}

type Answer = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers

function grantOf(tokens: Answer, provider: MailProvider): Grant {
  requireScopes(tokens, provider)
  const { access_token: accessToken, refresh_token: refreshToken } = tokens
  if (refreshToken === undefined)
    throw new OAuthRejected({
      kind: 'client',
      message: `${provider.name} returned no refresh token, so the access would end within hours. The operator must allow offline access for this service.`,
    })
  const claims = tokens.claims()
  const person = claims ? { subject: claims.sub, account: accountOf(claims) } : null
  return { accessToken, refreshToken, lifetimeSeconds: lifetimeOf(tokens), person }
}

/** People can leave out permissions on the page of some providers. */
function requireScopes({ scope }: Answer, { name, mailScopes, subject }: MailProvider): void {
  if (scope === undefined) return
  const granted = scope.split(' ')
  // In place of `.default` (Microsoft), the answer has the permissions that it stands for.
  const named = mailScopes.filter((each) => !each.endsWith('/.default'))
  if (named.every((each) => granted.includes(each))) return
  throw new OAuthRejected({
    kind: 'consent',
    message: `The access to ${subject ?? 'mail'} was not allowed at ${name}. Sign in again and select the permission for ${subject ?? 'mail'}.`,
  })
}

function accountOf({ email, preferred_username: name, sub }: oidc.IDToken): string {
  const account = [email, name, sub].find((claim) => typeof claim === 'string' && claim !== '')
  return (account as string).slice(0, 500)
}

/** At most a day: a token that lives longer is refreshed every day. */
export function lifetimeOf(tokens: Answer): number {
  const seconds = tokens.expires_in ?? DEFAULT_LIFETIME_SECONDS
  return Math.min(Math.max(0, Math.round(seconds)), DAY_SECONDS)
}

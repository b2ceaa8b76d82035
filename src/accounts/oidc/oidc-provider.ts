import { createHash } from 'node:crypto'
import * as oidc from 'openid-client'
import type { Config } from '../../config.ts'
import { Fault, messageOf } from '../../errors.ts'
import { HOUR_MS } from '../../time.ts'

export type OidcConfig = Pick<
  Config,
  | 'BASE_URL'
  | 'OIDC_ISSUER'
  | 'OIDC_CLIENT_ID'
  | 'OIDC_CLIENT_SECRET'
  | 'OIDC_NAME'
  | 'OIDC_SCOPES'
  | 'OIDC_SIGNUP'
  | 'OIDC_TRUST_EMAIL'
  | 'OIDC_GROUPS_CLAIM'
  | 'OIDC_ALLOWED_GROUPS'
  | 'OIDC_ADMIN_GROUP'
>

export const CALLBACK_PATH = '/api/auth/oidc/callback'

/** Bounds every request to the provider. */
const REQUEST_TIMEOUT_SECONDS = 10

/** A provider may change its endpoints; keys are refreshed by the library. */
const DISCOVERY_LIFETIME_MS = HOUR_MS

/** What must come back unchanged with the answer of the provider. */
export type Checks = { state: string; nonce: string; verifier: string }

/** A person as the provider describes them. */
export type Identity = {
  subject: string
  /** Lower-cased; null where the provider gives none. */
  email: string | null
  isEmailVerified: boolean
  name: string
  groups: string[]
}

export function isOidcSetUp<C extends OidcConfig>(
  config: C,
): config is C & { OIDC_ISSUER: string } {
  return config.OIDC_ISSUER !== undefined
}

export type OidcProvider = ReturnType<typeof createOidcProvider>

/**
 * Talks to the OpenID provider: discovery, authorization code flow with PKCE, state and nonce
 * (OpenID Connect Core 1.0; RFC 7636). The metadata is fetched at the first sign-in, so that the
 * service starts while the provider is down.
 */
export function createOidcProvider(config: OidcConfig & { OIDC_ISSUER: string }) {
  const issuer = new URL(config.OIDC_ISSUER)
  const redirectUri = `${config.BASE_URL}${CALLBACK_PATH}`
  let discovered: { client: Promise<oidc.Configuration>; until: number } | null = null

  function discover(): Promise<oidc.Configuration> {
    if (discovered && discovered.until > performance.now()) return discovered.client
    const client = oidc
      .discovery(issuer, config.OIDC_CLIENT_ID ?? '', config.OIDC_CLIENT_SECRET, undefined, {
        timeout: REQUEST_TIMEOUT_SECONDS,
        // The operator names the issuer; http serves providers in a private network.
        execute: issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : [],
      })
      .catch(reportUnreachable)
    const entry = { client, until: performance.now() + DISCOVERY_LIFETIME_MS }
    discovered = entry
    client.catch(() => {
      if (discovered === entry) discovered = null
    })
    return client
  }

  return {
    /**
     * Distinguishes the credentials of different providers: a subject is unique only within its
     * issuer.
     */
    id: `oidc:${createHash('sha256').update(issuer.href).digest('base64url').slice(0, 22)}`,
    name: config.OIDC_NAME,

    /**
     * @returns the URL of the provider's sign-in page, and what to check its answer against
     * @throws Fault `upstream_unreachable`
     */
    async start(): Promise<{ url: URL; checks: Checks }> {
      const client = await discover()
      const checks = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      }
      const url = oidc.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: config.OIDC_SCOPES,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
      })
      return { url, checks }
    },

    /**
     * Exchanges the code, verifies the ID token, and reads UserInfo.
     * @param query of the request to the callback
     * @throws errors of openid-client
     */
    async finish(query: string, checks: Checks): Promise<Identity> {
      const client = await discover()
      const tokens = await oidc.authorizationCodeGrant(client, new URL(`${redirectUri}?${query}`), {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (!claims) throw new Error('the token response has no ID token')
      // UserInfo has the claims that some providers leave out of the ID token. Its subject is
      // compared with that of the ID token (OpenID Connect Core 1.0, 5.3.2).
      const hasUserInfo = client.serverMetadata().userinfo_endpoint !== undefined
      const info = hasUserInfo
        ? await oidc.fetchUserInfo(client, tokens.access_token, claims.sub)
        : {}
      return readIdentity({ ...info, ...claims }, config.OIDC_GROUPS_CLAIM)
    },
  }
}

/**
 * The claims that are used, strictly typed: `"false"` is not a boolean.
 * @throws Error without a subject, which all people without one would share
 */
export function readIdentity(claims: Record<string, unknown>, groupsClaim: string): Identity {
  const groups = claims[groupsClaim]
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const subject = text(claims['sub'])
  if (subject.trim() === '') throw new Error('the ID token has no subject')
  return {
    subject,
    email: text(claims['email']).toLowerCase() || null,
    isEmailVerified: claims['email_verified'] === true,
    name: text(claims['name']) || text(claims['preferred_username']),
    groups: [groups ?? []].flat().filter((group) => typeof group === 'string'),
  }
}

function reportUnreachable(cause: unknown): never {
  throw new Fault(
    'upstream_unreachable',
    `The OpenID provider could not be reached: ${messageOf(cause)}. Check OIDC_ISSUER, and that this service can reach it.`,
    { cause },
  )
}

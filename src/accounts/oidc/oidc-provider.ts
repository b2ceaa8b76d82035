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

const ENTRA_ID = 'login.microsoftonline.com'

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
  /** Whether the provider left out the groups, as Entra ID does where there are more than 200. */
  hasMoreGroups: boolean
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
  const isInsecure = issuer.protocol === 'http:'
  const redirectUri = `${config.BASE_URL}${CALLBACK_PATH}`
  const credentials = createCredentials(config.OIDC_CLIENT_SECRET)
  let discovered: { client: Promise<oidc.Configuration>; until: number } | null = null

  function clientOf(server: oidc.ServerMetadata): oidc.Configuration {
    const { OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET } = config
    const { authenticate } = credentials
    const client = new oidc.Configuration(server, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, authenticate)
    client.timeout = REQUEST_TIMEOUT_SECONDS
    if (isInsecure) oidc.allowInsecureRequests(client)
    return client
  }

  /** Where a provider does not say how it signs UserInfo, it is as it signs ID tokens. */
  function complete(found: oidc.Configuration): oidc.Configuration {
    const server: oidc.ServerMetadata = { ...found.serverMetadata(), supportsPKCE: undefined }
    const { id_token_signing_alg_values_supported: algorithms } = server
    const isComplete = server['userinfo_signing_alg_values_supported'] !== undefined
    // The library compares the issuer of Entra ID in its own way, and that never signs UserInfo.
    if (isComplete || issuer.hostname === ENTRA_ID || algorithms === undefined) return found
    return clientOf({ ...server, userinfo_signing_alg_values_supported: algorithms })
  }

  function discover(): Promise<oidc.Configuration> {
    if (discovered && discovered.until > performance.now()) return discovered.client
    const { OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET } = config
    const client = oidc
      .discovery(issuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, credentials.authenticate, {
        timeout: REQUEST_TIMEOUT_SECONDS,
        // The operator names the issuer; http serves providers in a private network.
        execute: isInsecure ? [oidc.allowInsecureRequests] : [],
      })
      .then(complete)
      .catch(reportFailure)
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
     * Exchanges the code, checks the claims of the ID token, and reads UserInfo. Its signature is not
     * checked: it comes from the provider itself (OpenID Connect Core 1.0, 3.1.3.7).
     * @param query of the request to the callback
     * @throws errors of openid-client
     */
    async finish(query: string, checks: Checks): Promise<Identity> {
      const client = await discover()
      const tokens = await credentials.tryBoth(() =>
        oidc.authorizationCodeGrant(client, new URL(`${redirectUri}?${query}`), {
          expectedState: checks.state,
          expectedNonce: checks.nonce,
          pkceCodeVerifier: checks.verifier,
          idTokenExpected: true,
        }),
      )
      const claims = tokens.claims()
      if (!claims) throw new Error('the token response has no ID token')
      // UserInfo has the claims that some providers leave out of the ID token. Its subject is
      // compared with that of the ID token (OpenID Connect Core 1.0, 5.3.2).
      const hasUserInfo = client.serverMetadata().userinfo_endpoint !== undefined
      const info = hasUserInfo
        ? await oidc.fetchUserInfo(client, tokens.access_token, claims.sub)
        : {}
      const merged = { ...info, ...claims, ...emailIn(claims, info) }
      return readIdentity(merged, config.OIDC_GROUPS_CLAIM)
    },
  }
}

type Claims = Record<string, unknown>

/** The address with what the same source says about it. */
function emailIn(claims: Claims, info: Claims): Pick<Claims, 'email' | 'email_verified'> {
  const source = claims['email'] === undefined ? info : claims
  const isSame = claims['email'] === info['email']
  const { email, email_verified: verified = isSame ? info['email_verified'] : undefined } = source
  return { email, email_verified: verified }
}

/**
 * The claims that are used, strictly typed. Some providers send `"true"` in place of true; anything
 * else is not verified.
 * @throws Error without a subject, which all people without one would share
 */
export function readIdentity(claims: Claims, groupsClaim: string): Identity {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const subject = text(claims['sub'])
  if (subject.trim() === '') throw new Error('the ID token has no subject')
  const groups = valueAt(claims, groupsClaim)
  return {
    subject,
    email: text(claims['email']).toLowerCase() || null,
    isEmailVerified: claims['email_verified'] === true || claims['email_verified'] === 'true',
    name: text(claims['name']) || text(claims['preferred_username']),
    groups: groupNames(groups),
    hasMoreGroups:
      groups === undefined && valueAt(claims['_claim_names'], groupsClaim) !== undefined,
  }
}

/** The value of a claim, or at a path such as `realm_access.roles`. */
function valueAt(claims: unknown, path: string): unknown {
  if (!isObject(claims)) return undefined
  if (Object.hasOwn(claims, path)) return claims[path]
  const dot = path.indexOf('.')
  if (dot < 0) return undefined
  const [first, rest] = [path.slice(0, dot), path.slice(dot + 1)]
  return Object.hasOwn(claims, first) ? valueAt(claims[first], rest) : undefined
}

/** A name, several, or an object whose keys they are (Zitadel). */
function groupNames(value: unknown): string[] {
  if (isObject(value)) return Object.keys(value).filter((name) => isObject(value[name]))
  return [value ?? []].flat().filter((group) => typeof group === 'string')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The credentials at the token endpoint. A provider may accept only one of two forms (RFC 6749,
 * 2.3.1), and does not always say which one it wants from this client.
 */
function createCredentials(secret: string | undefined) {
  let isOther = false
  const authenticate: oidc.ClientAuth = (server, client, body, headers) => {
    // OpenID Connect Discovery 1.0, 3: without the field, it is the header.
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isBody = methods.includes('client_secret_post') !== isOther
    const form = isBody ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret)
    return form(server, client, body, headers)
  }
  return {
    authenticate: secret === undefined ? undefined : authenticate,
    /** A rejected client has not used its code. */
    async tryBoth<T>(request: () => Promise<T>): Promise<T> {
      const before = isOther
      try {
        return await request()
      } catch (error) {
        if (secret === undefined || !isRejectedClient(error)) throw error
        // Unless another sign-in has changed it meanwhile.
        isOther = !before
        return request().catch((again: unknown) => {
          isOther = before
          throw isRejectedClient(again) ? error : again
        })
      }
    },
  }
}

function isRejectedClient(error: unknown): boolean {
  if (error instanceof oidc.WWWAuthenticateChallengeError) return true
  return (
    error instanceof oidc.ResponseBodyError &&
    ['invalid_client', 'unauthorized_client'].includes(error.error)
  )
}

/** @throws Fault `upstream_rejected` for a provider with another issuer, `upstream_unreachable` */
function reportFailure(cause: unknown): never {
  const issuer = otherIssuer(cause)
  if (issuer !== null)
    throw new Fault(
      'upstream_rejected',
      `The issuer of the OpenID provider is ${issuer}. Set OIDC_ISSUER to exactly that.`,
      { cause },
    )
  throw new Fault(
    'upstream_unreachable',
    `The OpenID provider could not be reached: ${messageOf(cause)}. Check OIDC_ISSUER, and that this service can reach it.`,
    { cause },
  )
}

/** The issuer of a provider that does not have the configured one. */
function otherIssuer(error: unknown): string | null {
  if (!(error instanceof oidc.ClientError) || !isObject(error.cause)) return null
  const issuer = error.cause['attribute'] === 'issuer' ? valueAt(error.cause, 'body.issuer') : null
  return typeof issuer === 'string' ? issuer : null
}

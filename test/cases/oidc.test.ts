import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createOidcProvider, type OidcConfig } from '../../src/accounts/oidc/oidc-provider.ts'
import { readConfig } from '../../src/config.ts'
import { runCases } from './run-cases.ts'

type Claims = Record<string, unknown>

type Input = {
  /** The path of OIDC_ISSUER, and that of the provider where it differs. */
  path?: string
  issuer?: string
  issuerUrl?: string
  metadata?: Claims
  clientId?: string
  secret?: string
  /** How the client must authenticate. */
  wants?: 'basic' | 'post' | 'nothing'
  /** Claims beside the required ones; null removes one. */
  idToken?: Claims
  alg?: 'RS256' | 'ES256' | 'none'
  /** Seconds by which the clock of the provider is ahead. */
  ahead?: number
  hasNbf?: boolean
  userInfo?: Claims
  userInfoForm?: 'jwt'
  hasUserInfo?: boolean
  groupsClaim?: string
  /** Whether the provider signs with a new key after a first sign-in. */
  rotates?: boolean
  /** Further parameters of the answer. */
  query?: Record<string, string>
  /** Settings that are only read. */
  settings?: Record<string, string>
}

const SECRET = 'the secret of the client'

runCases('oidc.json', async (input: Input, expected) => {
  const part = (expected as { refused?: string | null }).refused
  const refused = (error: unknown) => {
    const causes = [error, (error as Error).cause].map((one) =>
      [one instanceof Error ? one.message : '', (one as { error?: string })?.error ?? ''].join(' '),
    )
    const words = causes.join(' ')
    return typeof part === 'string' && words.includes(part) ? part : words
  }
  if (input.settings) {
    try {
      readConfig(input.settings)
      return { refused: null }
    } catch (error) {
      return { refused: refused(error) }
    }
  }
  const provider = await startProvider(input)
  try {
    const client = createOidcProvider(provider.config)
    const signIn = async () => {
      const { url, checks } = await client.start()
      provider.nonce = url.searchParams.get('nonce')
      const answer = { code: 'the code', state: checks.state, ...input.query }
      return client.finish(new URLSearchParams(answer).toString(), checks)
    }
    if (input.rotates) {
      await signIn()
      provider.rotate()
    }
    return { ...(await signIn()), refused: null, tokenRequests: provider.tokenRequests }
  } catch (error) {
    return { refused: refused(error), tokenRequests: provider.tokenRequests }
  } finally {
    await provider.stop()
  }
})

const keyOf = (alg: Input['alg']) =>
  alg === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })

function jwt(claims: Claims, key: KeyObject, alg: string, kid: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${encode({ alg, typ: 'JWT', kid })}.${encode(claims)}`
  if (alg === 'none') return `${input}.`
  const options = { key, dsaEncoding: 'ieee-p1363' as const }
  return `${input}.${sign('sha256', Buffer.from(input), options).toString('base64url')}`
}

/** A provider that does what a case says, as no real one does on demand. */
async function startProvider(input: Input) {
  const { path = '', clientId = 'portreeve', secret = SECRET, alg = 'RS256' } = input
  let key = keyOf(alg)
  let kid = 'first'
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer = input.issuerUrl ?? `${origin}${input.issuer ?? path}`
  const given = {
    nonce: null as string | null,
    tokenRequests: 0,
    rotate() {
      key = keyOf(alg)
      kid = 'second'
    },
    config: {
      BASE_URL: 'https://portreeve.test',
      OIDC_ISSUER: `${origin}${path}`,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: secret,
      OIDC_NAME: 'Case',
      OIDC_SCOPES: 'openid email',
      OIDC_GROUPS_CLAIM: input.groupsClaim ?? 'groups',
    } as OidcConfig & { OIDC_ISSUER: string },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  function idToken(): string {
    const now = Math.floor(Date.now() / 1000) + (input.ahead ?? 0)
    const required = { iss: issuer, sub: 'ann', aud: 'portreeve', iat: now, exp: now + 3600 }
    const times = input.hasNbf ? { nbf: now } : {}
    const claims = { ...required, ...times, nonce: given.nonce, ...input.idToken }
    const present = Object.entries(claims).filter(([name, value]) => value !== null || name === 'email_verified') // prettier-ignore
    return jwt(Object.fromEntries(present), key.privateKey, alg, kid)
  }

  const metadata = {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/keys`,
    ...(input.hasUserInfo !== false && { userinfo_endpoint: `${origin}/userinfo` }),
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    ...input.metadata,
  }

  async function answer(request: IncomingMessage): Promise<[status: number, body: unknown]> {
    const { pathname } = new URL(request.url ?? '', origin)
    if (pathname.endsWith('/.well-known/openid-configuration')) {
      const present = Object.entries(metadata).filter(([, value]) => value !== null)
      return [200, Object.fromEntries(present)]
    }
    if (pathname === '/keys')
      return [200, { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid, use: 'sig' }] }]
    if (pathname === '/userinfo') {
      const claims = { sub: 'ann', ...input.userInfo }
      if (input.userInfoForm !== 'jwt') return [200, claims]
      return [200, jwt({ ...claims, iss: issuer, aud: clientId }, key.privateKey, alg, kid)]
    }
    given.tokenRequests += 1
    const isKnown = isClient(request, new URLSearchParams(await text(request)))
    if (!isKnown) return [401, { error: 'invalid_client' }]
    return [200, { access_token: 'a', token_type: 'Bearer', id_token: idToken(), expires_in: 60 }]
  }

  function isClient({ headers }: IncomingMessage, form: URLSearchParams): boolean {
    const [, basic] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? []
    if (input.wants === 'nothing') return false
    if (basic === undefined) return input.wants !== 'basic' && form.get('client_secret') === secret
    // RFC 6749, appendix B: both parts are encoded like a form.
    const [user, password] = Buffer.from(basic, 'base64')
      .toString()
      .split(':')
      .map((value) => new URLSearchParams(`v=${value}`).get('v'))
    return input.wants !== 'post' && user === clientId && password === secret
  }

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const [status, body] = await answer(request)
    const isJwt = typeof body === 'string'
    response
      .writeHead(status, { 'content-type': isJwt ? 'application/jwt' : 'application/json' })
      .end(isJwt ? body : JSON.stringify(body))
  }
  server.on('request', (request, response) => void respond(request, response))
  return given
}

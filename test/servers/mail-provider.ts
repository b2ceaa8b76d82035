import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeProtectedHeader, exportJWK, importX509 } from 'jose'
import { Provider, type ClientMetadata } from 'oidc-provider'
import {
  addServiceAccounts,
  administratorClients,
  nameServiceAccount,
} from './mail-administrators.ts'

export type MailProviderServer = Awaited<ReturnType<typeof startMailProvider>>

/** Clients that authenticate themselves with a certificate. */
export const CERTIFIED = { client: 'portreeve-certified', app: 'mail-app-certified' }

export const MAIL_CLIENT = { id: 'portreeve', secret: 'the-secret-of-the-mail-client' }

/**
 * Starts a provider of mailboxes (oidc-provider) where `person` signs in without being asked.
 * Refresh tokens are replaced at each use, and a second use ends the whole permission.
 * @param lifetimeSeconds of access tokens
 * @param certificate of the clients of `CERTIFIED`, which have no secret
 */
export async function startMailProvider(
  redirectUri: string,
  { lifetimeSeconds = 3600, certificate }: { lifetimeSeconds?: number; certificate?: string } = {},
) {
  const state = {
    person: 'alice',
    denied: null as string | null,
    isAway: false,
    /** Of the page that is sent while it is away. */
    awayStatus: 503,
    lifetimeSeconds,
    refreshes: 0,
    /** Whether the service account may open mailboxes, and how many tokens administrators got. */
    isDelegated: true,
    administratorTokens: 0,
    /** Permissions that were revoked. */
    revocations: 0,
    /** The headers of the assertions with which clients authenticated themselves. */
    assertions: [] as object[],
  }
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`
  const SCOPE = 'openid email offline_access imap'
  const client: ClientMetadata = {
    client_id: MAIL_CLIENT.id,
    client_secret: MAIL_CLIENT.secret,
    redirect_uris: [redirectUri],
    // Any port of this machine fits a native client (RFC 8252, 7.3).
    application_type: redirectUri.startsWith('http://127.0.0.1/') ? 'native' : 'web',
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
  }
  const keys = certificate === undefined ? null : [await jwkOf(certificate)]
  const byCertificate = ({ client_secret: _secret, ...metadata }: ClientMetadata, id: string) => ({
    ...metadata,
    client_id: id,
    token_endpoint_auth_method: 'private_key_jwt' as const,
    token_endpoint_auth_signing_alg: 'PS256' as const,
    jwks: { keys: keys ?? [] },
  })
  const [app] = administratorClients as [ClientMetadata]
  const certified = keys && [
    byCertificate(client, CERTIFIED.client),
    byCertificate(app, CERTIFIED.app),
  ]
  const provider = new Provider(issuer, {
    clients: [client, ...administratorClients, ...(certified ?? [])],
    // An application’s token opens these mailboxes.
    extraTokenClaims: (_context, token) =>
      token.kind === 'ClientCredentials' ? { mailbox1: 'alice', mailbox2: 'bob' } : undefined,
    scopes: ['openid', 'email', 'offline_access', 'imap'],
    claims: { openid: ['sub'], email: ['email'] },
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      revocation: { enabled: true },
      deviceFlow: { enabled: true },
      clientCredentials: { enabled: true },
    },
    pkce: { required: (context) => context.path.includes('auth') },
    rotateRefreshToken: true,
    cookies: { keys: ['the keys of a test'] },
    ttl: {
      AccessToken: () => state.lifetimeSeconds,
      Session: 3600,
      Interaction: 600,
      Grant: 3600,
      IdToken: 600,
      RefreshToken: 3600,
      DeviceCode: 600,
    },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, email: `${sub}@mail.test` }),
    }),
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client!.clientId,
        accountId: context.oidc.session!.accountId!,
      })
      grant.addOIDCScope(SCOPE)
      await grant.save()
      return grant
    },
    interactions: { url: () => '/interaction' },
  })
  provider.on('grant.revoked', () => (state.revocations += 1))
  const grants = new Set<string>()
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.params?.['grant_type'] === 'refresh_token') state.refreshes += 1
    const { grantId } = oidc.entities.AccessToken ?? {}
    if (grantId) grants.add(grantId)
  })
  const serviceAccount = await addServiceAccounts(provider, state)
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (state.isAway) response.writeHead(state.awayStatus).end('maintenance')
    else if (request.url === '/token')
      void nameServiceAccount(request).then((assertion) => {
        if (assertion) state.assertions.push(decodeProtectedHeader(assertion))
        return answer(request, response)
      })
    else if (request.url?.startsWith('/interaction')) finishInteraction(request, response)
    else void answer(request, response)
  })
  function finishInteraction(request: IncomingMessage, response: ServerResponse): void {
    const result = state.denied
      ? { error: state.denied, error_description: 'said the provider' }
      : { login: { accountId: state.person, remember: false }, consent: {} }
    void provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: true,
    })
  }
  return {
    issuer,
    state,
    /** The key file of a service account. */
    serviceAccount,
    /** Settings of the service. */
    settings: {
      OAUTH_OTHER_CLIENT_ID: MAIL_CLIENT.id,
      OAUTH_OTHER_CLIENT_SECRET: MAIL_CLIENT.secret,
      OAUTH_OTHER_ISSUER: issuer,
      OAUTH_OTHER_SCOPE: SCOPE,
      OAUTH_OTHER_HOSTS: '127.0.0.1',
      OAUTH_OTHER_NAME: 'Example Mail',
    },
    /** For `startDovecot({ introspectAt })`. */
    introspectionUrl: `http://${MAIL_CLIENT.id}:${MAIL_CLIENT.secret}@127.0.0.1:${port}/token/introspection`,
    /** Ends all permissions, and with them all tokens, as a change of the password does. */
    async revokeAll(): Promise<void> {
      for (const grantId of grants) {
        for (const kind of [provider.AccessToken, provider.RefreshToken])
          await kind.revokeByGrantId(grantId)
        await (await provider.Grant.find(grantId))?.destroy()
      }
      grants.clear()
    },
    /** Signs `person` in on another device, with the code that a program shows. */
    async enterCode(userCode: string): Promise<void> {
      const cookies = new Map<string, string>()
      let page = await visit(cookies, new URL(`/device?user_code=${userCode}`, issuer))
      for (let forms = 0; forms < 3 && page.includes('<form'); forms += 1)
        page = await visit(cookies, new URL('/device', issuer), fieldsOf(page))
      if (/error/i.test(page)) throw new Error(page)
    },
    /** Signs `person` in, in a browser. */
    async signIn(address: string): Promise<void> {
      await visit(new Map(), new URL(address))
    },
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const jwkOf = async (certificate: string) =>
  exportJWK(await importX509(certificate, 'PS256', { extractable: true }))

/** The hidden fields of a form, with its confirmation. */
function fieldsOf(page: string): URLSearchParams {
  const inputs = [...page.matchAll(/<input[^>]*>/g)].map(([input]) => input)
  const valueOf = (input: string, name: string) =>
    new RegExp(`${name}="([^"]*)"`).exec(input)?.[1] ?? ''
  const fields = inputs.map((input): [string, string] => [
    valueOf(input, 'name'),
    valueOf(input, 'value'),
  ])
  return new URLSearchParams([...fields.filter(([name]) => name !== 'abort'), ['confirm', 'yes']])
}

/** Opens a page with a cookie jar, and follows its redirects. */
async function visit(
  cookies: Map<string, string>,
  url: URL,
  body?: URLSearchParams,
): Promise<string> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    ...(body && { method: 'POST', body }),
  })
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    cookies.set(name, value)
  }
  const location = response.headers.get('location')
  return location ? visit(cookies, new URL(location, url)) : response.text()
}

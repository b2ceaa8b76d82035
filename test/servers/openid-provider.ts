import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** Claims of a person, beside `sub`. */
export type Claims = Record<string, unknown>

export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>

export const CLIENT = { id: 'portreeve', secret: 'the secret of the client' }

/**
 * Starts an OpenID provider (oidc-provider) that signs in `person` without asking. Claims are in
 * UserInfo only, as Authelia does it.
 */
export async function startOpenIdProvider({
  redirectUri,
  port = 0,
}: {
  redirectUri: string
  port?: number
}) {
  const person: { subject: string; claims: Claims } = { subject: 'nobody', claims: {} }
  let denied: string | null = null
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    cookies: { keys: ['the keys of a test'] },
    ttl: { Session: 3600, Interaction: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: async () => ({ ...person.claims, sub }),
    }),
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client!.clientId,
        accountId: context.oidc.session!.accountId!,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    interactions: { url: () => '/interaction' },
  })
  const callback = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction')) {
      void callback(request, response)
      return
    }
    const result = denied
      ? { error: denied, error_description: 'said the provider' }
      : { login: { accountId: person.subject, remember: false } }
    void provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: false,
    })
  })
  return {
    issuer,
    port: (server.address() as AddressInfo).port,
    /** The person who signs in from now on. */
    be(subject: string, claims: Claims): void {
      Object.assign(person, { subject, claims })
      denied = null
    },
    /** Refuses sign-ins with an error code from now on. */
    refuse(error: string): void {
      denied = error
    },
    async stop(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A browser that follows redirects between the service and the provider, with a cookie jar. */
export function createBrowser(baseUrl: string, serviceUrl: string) {
  const jar = new Map<string, Map<string, string>>()
  const visited: string[] = []

  async function visit(address: string): Promise<{ path: string; status: number }> {
    let next = new URL(address, baseUrl)
    for (let hops = 0; hops < 12; hops += 1) {
      visited.push(next.href)
      const isService = next.origin === new URL(baseUrl).origin
      if (isService && !next.pathname.startsWith('/api/'))
        return { path: next.pathname + next.search, status: 200 }
      const target = isService ? new URL(next.pathname + next.search, serviceUrl) : next
      const cookies = jar.get(next.host) ?? new Map<string, string>()
      jar.set(next.host, cookies)
      const response = await fetch(target, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      })
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';', 1)
        const at = pair.indexOf('=')
        if (/max-age=0/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line))
          cookies.delete(pair.slice(0, at))
        else cookies.set(pair.slice(0, at), pair.slice(at + 1))
      }
      const location = response.headers.get('location')
      if (!location) return { path: next.pathname, status: response.status }
      next = new URL(location, next)
    }
    throw new Error('too many redirects')
  }

  return {
    visit,
    visited,
    /** The Cookie header for the service. */
    cookie: () =>
      [...(jar.get(new URL(baseUrl).host) ?? [])]
        .map(([name, value]) => `${name}=${value}`)
        .join('; '),
    setCookies(lines: string[]): void {
      const cookies = jar.get(new URL(baseUrl).host) ?? new Map<string, string>()
      jar.set(new URL(baseUrl).host, cookies)
      for (const line of lines) {
        const [pair = ''] = line.split(';', 1)
        const at = pair.indexOf('=')
        cookies.set(pair.slice(0, at), pair.slice(at + 1))
      }
    },
  }
}

import type { FastifyRequest } from 'fastify'
import { Fault } from '../errors.ts'
import { isSafe } from '../http/access.ts'
import type { App } from '../http/http-server.ts'
import { DOMAINS, type DemoRecording } from './recording.ts'

/** The only requests besides reading: a visitor comes and goes. */
const ALLOWED = new Set(['/api/v1/demo/session', '/api/auth/sign-out'])

const REFUSAL = 'This demo is read-only.'

/** Checks of a domain, a host or an address that the caller names. */
const CHECKS =
  /^\/api\/v1\/(?:(?:blacklist|dmarc|dns|ssl)-check|domains\/:domain(?:\/events|\/record)?$)/

/**
 * Makes a service read-only: refuses every request that would change something, and every check of
 * what the recording does not know. Search engines are kept away.
 */
export function makeReadOnly(app: App, recording: DemoRecording): void {
  app.get('/robots.txt', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain').send('User-agent: *\nDisallow: /\n'),
  )
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-robots-tag', 'noindex, nofollow')
    // Senders of webhooks get text, from a demo as from any service.
    if (request.url.startsWith('/webhooks/')) void reply.code(403).type('text/plain').send(REFUSAL)
    else done(rejection(request, recording))
  })
}

function rejection(request: FastifyRequest, recording: DemoRecording): Fault | undefined {
  const { method, url, routeOptions } = request
  const route = routeOptions.url ?? url
  if (!isSafe(method)) return ALLOWED.has(route) ? undefined : new Fault('demo', REFUSAL)
  const stranger =
    CHECKS.test(route) && targetsOf(request).find((target) => !recording.knows(target))
  return stranger
    ? new Fault('demo', `This demo checks only its own domains: ${DOMAINS.join(', ')}.`)
    : undefined
}

function targetsOf({ query, params }: FastifyRequest): string[] {
  const { domain, host, ip, target } = { ...(query as object), ...(params as object) } as Record<
    string,
    unknown
  >
  return [domain, host, ip, target].filter((value) => typeof value === 'string')
}

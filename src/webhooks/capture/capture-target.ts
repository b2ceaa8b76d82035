import type { IncomingMessage } from 'node:http'

/** Which endpoint a request is for, and what of its target lies below that: raw, with its escapes. */
export type CaptureTarget = { token: string; path: string; query: string }

/** Also in the absolute form that proxies send (RFC 9112, 3.2.2). */
const TARGET = /^(?:https?:\/\/[^/?#]*)?\/webhooks\/([A-Za-z0-9]{10})(\/[^?]*)?(?:\?(.*))?$/is
const ABSOLUTE = /^https?:\/\/[^/?#]*\/webhooks\//i

/** Null for a target that cannot be an endpoint's. */
export function readTarget(url: string): CaptureTarget | null {
  const match = TARGET.exec(url)
  return match && { token: match[1] as string, path: match[2] ?? '', query: match[3] ?? '' }
}

/**
 * Tells the requests that are captured, or refused here, from those of the router.
 * @param webhookBaseUrl an origin of its own serves captures only, so that what they answer shares nothing with us
 */
export function createCaptureMatcher(baseUrl: string, webhookBaseUrl: string): (request: IncomingMessage) => boolean {
  const { host, protocol } = new URL(webhookBaseUrl)
  const hasOwnOrigin = new URL(baseUrl).host !== host
  const defaultPort = protocol === 'https:' ? /:443$/ : /:80$/
  const isWebhookHost = (named = '') =>
    named
      .toLowerCase()
      .replace(defaultPort, '')
      .replace(/\.(?=:|$)/, '') === host
  return ({ url = '', headers }) =>
    url.startsWith('/webhooks/') || ABSOLUTE.test(url) || (hasOwnOrigin && isWebhookHost(headers.host))
}

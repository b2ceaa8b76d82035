import type { IncomingMessage } from 'node:http'
import { isName, isToken } from '../endpoints/endpoint-name.ts'

/**
 * The endpoint that a request is for, by its token or its name, and the raw part of its URL below the
 * endpoint.
 */
export type CaptureTarget = { token: string; path: string; query: string }

/** Matches the absolute form that proxies send, too (RFC 9112, 3.2.2). */
const TARGET = /^(?:https?:\/\/[^/?#]*)?\/webhooks\/([A-Za-z0-9-]{6,63})(\/[^?]*)?(?:\?(.*))?$/is
const ABSOLUTE = /^https?:\/\/[^/?#]*\/webhooks\//i

/** Parses the target of a request. Null when it cannot belong to an endpoint. */
export function readTarget(url: string): CaptureTarget | null {
  const match = TARGET.exec(url)
  const token = match?.[1] ?? ''
  if (!match || !(isToken(token) || isName(token))) return null
  return { token, path: match[2] ?? '', query: match[3] ?? '' }
}

/**
 * Creates the function that separates requests to capture or reject here from requests for the
 * router.
 * @param webhookBaseUrl a separate origin serves captures only, so that their responses share
 *   nothing with the dashboard
 */
export function createCaptureMatcher(
  baseUrl: string,
  webhookBaseUrl: string,
): (request: Pick<IncomingMessage, 'url' | 'headers'>) => boolean {
  const { host, protocol } = new URL(webhookBaseUrl)
  const hasOwnOrigin = new URL(baseUrl).host !== host
  const defaultPort = protocol === 'https:' ? /:443$/ : /:80$/
  const isWebhookHost = (named = '') =>
    named
      .toLowerCase()
      .replace(defaultPort, '')
      .replace(/\.(?=:|$)/, '') === host
  return ({ url = '', headers }) =>
    url.startsWith('/webhooks/') ||
    ABSOLUTE.test(url) ||
    (hasOwnOrigin && isWebhookHost(headers.host))
}

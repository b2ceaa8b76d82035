import { BODILESS_METHODS, endToEndHeaders } from '../../net/http/forward.ts'
import type { Header } from '../headers.ts'
import type { Signing } from './shapes.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { loopHeaders } from './forwarding-marks.ts'
import type { SealedSettings } from './destination-settings.ts'
import { isSignatureHeader, signatureHeaders } from './outgoing-signature.ts'

export type OutgoingRequest = {
  url: URL
  method: string
  path: string
  headers: Header[]
  body: Buffer
}

/** Whether the receiver may have had this request before, and why. */
export type Repeat = 'no' | 'retry' | 'maybe-delivered' | 'replay'

export type Outgoing = {
  settings: SealedSettings
  sign: Signing
  /** By which a receiver recognizes the request: the same for all attempts. */
  messageId: string
  /** Whether a person edited it. */
  isEdited: boolean
  /** The number of this attempt, from 1 on. */
  attempt: number
  repeat: Repeat
  /** By which the endpoint recognizes a request that comes back. */
  mark: string
  /** The address of this service, for those who get requests that they do not want. */
  baseUrl: string
  /** Milliseconds since 1970. */
  now: number
}

/**
 * The captured request as it is sent to a destination: its method, path, query, headers and body byte
 * for byte. Only headers of the connection are new, and those of this service and of the destination
 * are added.
 */
export async function buildRequest(
  request: RequestRow,
  outgoing: Outgoing,
): Promise<OutgoingRequest> {
  const { settings, sign, attempt, repeat, baseUrl, messageId, isEdited } = outgoing
  const url = new URL(settings.url)
  const path = pathOf(url, request)
  const target = { method: request.method, url: url.origin + path, body: request.body }
  const own: Header[] = [
    ['X-Portreeve-Request', request.id],
    ['X-Portreeve-Attempt', String(attempt)],
    ['X-Portreeve-Repeat', repeat],
    ...(isEdited ? [['X-Portreeve-Edited', '1'] as Header] : []),
    ...loopHeaders(request.headers, outgoing.mark),
    ['X-Portreeve-From', baseUrl],
    ...(await signatureHeaders(messageId, target, outgoing)),
  ]
  return {
    url,
    method: request.method,
    path,
    headers: [
      ...receivedHeaders(request, url, { sign, replaced: settings.headers }),
      ...settings.headers,
      ...own,
    ],
    body: request.body,
  }
}

/**
 * The id of a request in its signature: the same for all destinations, attempts and replays. An edited
 * one is another request, which a receiver must not leave out as a repetition.
 * @param editedDeliveryId null for a request as captured
 */
export function messageIdOf(requestId: string, editedDeliveryId: string | null): string {
  return editedDeliveryId === null ? `req_${requestId}` : `edit_${editedDeliveryId}`
}

/** The same request, marked as a repetition. */
export function markRepeat(request: OutgoingRequest, repeat: Repeat): OutgoingRequest {
  const headers = request.headers.map(([name, value]): Header => [
    name,
    name === 'X-Portreeve-Repeat' ? repeat : value,
  ])
  return { ...request, headers }
}

function pathOf(url: URL, { path, query }: RequestRow): string {
  const base = path === '' ? url.pathname : url.pathname.replace(/\/$/, '') + path
  const search = [url.search.slice(1), query].filter(Boolean).join('&')
  return search === '' ? base : `${base}?${search}`
}

/**
 * The headers of the captured request in their order. A sender’s own headers of signatures are kept
 * under other names where ours take their place.
 */
function receivedHeaders(
  { method, headers, body }: RequestRow,
  url: URL,
  { sign, replaced }: { sign: Signing; replaced: Header[] },
): Header[] {
  const set = new Set(replaced.map(([name]) => name.toLowerCase()))
  const kept = endToEndHeaders(headers).flatMap(([name, value]): Header[] => {
    const lower = name.toLowerCase()
    if (lower === 'host') return [[name, url.host]]
    if (lower === 'content-length' || isReplaced(lower) || set.has(lower)) return []
    if (isSignatureHeader(sign, lower)) return [[`x-original-${lower}`, value]]
    return [[name, value]]
  })
  const hasHost = kept.some(([name]) => name.toLowerCase() === 'host')
  const needsLength = body.length > 0 || !BODILESS_METHODS.has(method)
  return [
    ...(hasHost ? [] : [['Host', url.host] as Header]),
    ...kept,
    ...(needsLength ? [['Content-Length', String(body.length)] as Header] : []),
  ]
}

/** Headers of this service are written here. Of those that come in, only the one of a test is kept. */
function isReplaced(name: string): boolean {
  return name.startsWith('x-portreeve-') && name !== 'x-portreeve-test'
}

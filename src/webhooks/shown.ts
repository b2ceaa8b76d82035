import { isUtf8 } from 'node:buffer'
import type { EndpointRow } from './endpoints/store.ts'
import type { RequestRow } from './requests/store.ts'

/** An endpoint as its owner sees it, with its URL. */
export function shownEndpoint(row: EndpointRow, webhookBaseUrl: string) {
  return { ...row, url: `${webhookBaseUrl}/webhooks/${row.token}` }
}

/** A request as its owner sees it: the body as text where it is text, else in base64. */
export function shownRequest({ seq: _seq, body, ...row }: RequestRow) {
  const isText = isUtf8(body) && !body.includes(0)
  return {
    ...row,
    body: body.toString(isText ? 'utf8' : 'base64'),
    bodyEncoding: isText ? ('utf8' as const) : ('base64' as const),
    truncated: row.bodySize > body.length,
  }
}

import { isUtf8 } from 'node:buffer'
import type { EndpointRow, EncryptedEndpoint } from './endpoints/store.ts'
import type { RequestRow } from './requests/store.ts'
import type { Surplus } from './surplus.ts'

/** An endpoint without what only its own work may read. */
export function withoutSecrets({
  signatureSecret: _verifies,
  responseSecret: _signs,
  ...row
}: EncryptedEndpoint): EndpointRow {
  return row
}

/** An endpoint as its owner sees it, with its URL. */
export function shownEndpoint(row: EndpointRow, webhookBaseUrl: string) {
  return { ...row, url: `${webhookBaseUrl}/webhooks/${row.token}` }
}

/** A request as its owner sees it: the body as text where it is text, else in base64. */
export function shownRequest({ seq: _seq, body, surplus, ...row }: RequestRow) {
  const { text, encoding } = encoded(body)
  return {
    ...row,
    body: text,
    bodyEncoding: encoding,
    truncated: row.bodySize > body.length,
    surplus: surplus && shownSurplus(surplus),
  }
}

function shownSurplus({ size, start, responseStatus }: Surplus) {
  const { text, encoding } = encoded(Buffer.from(start, 'base64'))
  return { size, start: text, startEncoding: encoding, responseStatus }
}

function encoded(bytes: Buffer): { text: string; encoding: 'utf8' | 'base64' } {
  const encoding = isUtf8(bytes) && !bytes.includes(0) ? 'utf8' : 'base64'
  return { text: bytes.toString(encoding), encoding }
}

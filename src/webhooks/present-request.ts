import { isUtf8 } from 'node:buffer'
import type { EndpointRow, EncryptedEndpoint } from './endpoints/endpoints.sql.ts'
import type { RequestRow } from './requests/captured-request.ts'
import type { Static } from 'typebox'
import { emailAddressOf } from './email/endpoint-email.ts'
import type { Surplus } from './capture/surplus.ts'
import type { AnswerRow } from './listeners/listeners.sql.ts'
import type { WebhookRequest } from './shapes.ts'

/** Removes the secrets, which only verifying and signing may read. */
export function omitSecrets({
  signatureSecret: _verifies,
  responseSecret: _signs,
  ...row
}: EncryptedEndpoint): EndpointRow {
  return row
}

/** Where endpoints are reached: the base of their URLs, and the domain of their addresses. */
export type EndpointPlaces = { webhookBaseUrl: string; emailDomain: string | null }

/** Presents an endpoint to its owner, with its URLs and its address. */
export function presentEndpoint(
  { emailToken, ...row }: EndpointRow,
  { webhookBaseUrl, emailDomain }: EndpointPlaces,
) {
  const urlOf = (key: string) => `${webhookBaseUrl}/webhooks/${key}`
  return {
    ...row,
    responseHeaders: row.responseHeaders ?? [],
    url: urlOf(row.token),
    namedUrl: row.name && urlOf(row.name),
    receivesEmail: emailToken !== null,
    emailAddress: emailToken && emailDomain && emailAddressOf(emailToken, emailDomain),
  }
}

/**
 * A request as the API returns it, before dates are serialized. A field that the row lacks fails to
 * compile.
 */
type PresentedRequest = Omit<Static<typeof WebhookRequest>, 'receivedAt'> & { receivedAt: Date }

/** Presents a request to its owner: the body as text if its bytes are text, otherwise in base64. */
export function presentRequest({ seq: _seq, body, surplus, ...row }: RequestRow): PresentedRequest {
  const { text, encoding } = encodeBytes(body)
  return {
    ...row,
    body: text,
    bodyEncoding: encoding,
    truncated: row.bodySize > body.length,
    surplus: surplus && presentSurplus(surplus),
  }
}

function presentSurplus({ size, start, responseStatus }: Surplus) {
  const { text, encoding } = encodeBytes(Buffer.from(start, 'base64'))
  return { size, start: text, startEncoding: encoding, responseStatus }
}

/** Presents the answer of a listener to the owner of its endpoint. */
export function presentAnswer({ body, ...row }: AnswerRow) {
  const { text, encoding } = encodeBytes(body)
  return { ...row, body: text, bodyEncoding: encoding }
}

/** The bytes as text if they are text, otherwise in base64. */
export function encodeBytes(bytes: Buffer): { text: string; encoding: 'utf8' | 'base64' } {
  const encoding = isUtf8(bytes) && !bytes.includes(0) ? 'utf8' : 'base64'
  return { text: bytes.toString(encoding), encoding }
}

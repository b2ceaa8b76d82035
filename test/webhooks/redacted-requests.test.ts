import { describe, expect, it } from 'vitest'
import { redactRequest } from '../../src/webhooks/shares/redact-request.ts'
import type { RequestRow } from '../../src/webhooks/requests/captured-request.ts'

const CLIENT = '192.0.2.77'

function redact(headers: [string, string][], query = '') {
  const row: Partial<RequestRow> = {
    method: 'POST',
    path: '/',
    query,
    headers,
    body: Buffer.from(''),
    bodySize: 0,
    contentType: null,
    ip: CLIENT,
    receivedAt: new Date(0),
  }
  return redactRequest(row as RequestRow, false)
}

/** Headers that senders and proxies document, whose values are no business of others. */
const HIDDEN = [
  'Authorization',
  'Proxy-Authorization',
  'Cookie',
  'Set-Cookie',
  'X-Shopify-Hmac-Sha256',
  'X-Square-Hmacsha256-Signature',
  'PayPal-Transmission-Sig',
  'Stripe-Signature',
  'X-Hub-Signature-256',
  'Signature-Input',
  'X-Gitlab-Token',
  'X-Goog-IAP-JWT-Assertion',
  'Cf-Access-Jwt-Assertion',
  'X-Functions-Key',
  'Ocp-Apim-Subscription-Key',
  'X-Access-Key',
  'DPoP',
  'X-Amz-Security-Token',
  'Forwarded',
  'X-Forwarded-For',
  'X-Original-Forwarded-For',
  'X-Real-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'CF-Connecting-IPv6',
  'Fastly-Client-IP',
  'Fly-Client-IP',
  'X-Cluster-Client-IP',
  'X-Appengine-User-IP',
  'X-Envoy-External-Address',
  'X-Remote-Addr',
]

/** Without these, a shared request explains nothing. */
const SHOWN = [
  'Host',
  'Content-Type',
  'User-Agent',
  'X-GitHub-Event',
  'X-GitHub-Delivery',
  'webhook-id',
  'webhook-timestamp',
  'Idempotency-Key',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'X-Signal',
  'X-Keyword',
  'X-Shipping-Code-Name',
]

describe('a shared request', () => {
  it.each(HIDDEN)('hides the value of %s', (name) => {
    const { headers, redacted } = redact([[name, 'value']])
    expect(headers).toEqual([[name, '…']])
    expect(redacted).toEqual([name])
  })

  it.each(SHOWN)('shows the value of %s', (name) => {
    expect(redact([[name, 'value']]).headers).toEqual([[name, 'value']])
  })

  it('hides the address of the client under any name', () => {
    const received = `from mx.example.com ([${CLIENT}]) by mail.example.net`
    expect(redact([['Received', received]]).headers).toEqual([['Received', '…']])
  })

  it.each([
    ['code=abc&state=1', 'code=…&state=1'],
    ['sv=2024&sig=abc', 'sv=2024&sig=…'],
    [
      'X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-Date=c',
      'X-Amz-Credential=…&X-Amz-Signature=…&X-Amz-Date=c',
    ],
    ['SAMLResponse=abc', 'SAMLResponse=…'],
    ['key=abc&page=2', 'key=…&page=2'],
    ['zipcode=1&keyword=2&design=3', 'zipcode=1&keyword=2&design=3'],
  ])('shows of the query %s what is no secret', (query, shown) => {
    expect(redact([], query).query).toBe(shown)
  })
})

import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkSignature,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
  type SignedRequest,
} from '../../src/protocols/webhook-signature.ts'

const at = (seconds: number) => new Date(seconds * 1000)
const hmac = (key: string | Buffer, text: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', key).update(text).digest(encoding)

function request(
  headers: Record<string, string>,
  body: string,
  receivedAt = new Date(),
  truncated = false,
): SignedRequest {
  return { headers: Object.entries(headers), body: Buffer.from(body), receivedAt, truncated }
}

const GITHUB = {
  secret: "It's a Secret to Everybody",
  body: 'Hello, World!',
  headers: {
    'X-Hub-Signature-256':
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  },
}

/** Slack's own example, “Verifying requests from Slack”. */
const SLACK = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  body:
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&' +
    'user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
    '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  headers: {
    'X-Slack-Request-Timestamp': '1531420618',
    'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  },
}

/** The example of the Standard Webhooks and Svix libraries’ documentation. */
const STANDARD = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
}

const check = (
  scheme: SignatureScheme,
  { secret, body, headers }: typeof SLACK | typeof GITHUB | typeof STANDARD,
  seconds?: number,
) =>
  checkSignature(
    scheme,
    secret,
    request({ ...headers }, body, seconds === undefined ? new Date() : at(seconds)),
  )

describe('documented examples', () => {
  it('of GitHub hold', () => {
    expect(check({ scheme: 'github' }, GITHUB)).toMatchObject({ status: 'valid' })
  })

  it('of Slack hold within five minutes of their time', () => {
    expect(check({ scheme: 'slack' }, SLACK, 1531420618 + 299)).toMatchObject({ status: 'valid' })
    const late = check({ scheme: 'slack' }, SLACK, 1531420618 + 420)
    expect(late).toEqual({ status: 'invalid', reason: expect.stringContaining('7 minutes before') })
  })

  it('of Standard Webhooks hold, also under the names of Svix', () => {
    expect(check({ scheme: 'standard' }, STANDARD, 1614265330)).toMatchObject({ status: 'valid' })
    const headers = Object.fromEntries(
      Object.entries(STANDARD.headers).map(([name, value]) => [
        name.replace('webhook', 'Svix'),
        value,
      ]),
    )
    expect(
      checkSignature(
        { scheme: 'standard' },
        STANDARD.secret,
        request(headers, STANDARD.body, at(1614265330)),
      ),
    ).toMatchObject({ status: 'valid' })
  })

  it('of Stripe are valid if one of several signatures matches', () => {
    const secret = 'whsec_test_secret'
    const body = '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}'
    const signature = hmac(secret, `1492774577.${body}`)
    const header = `t=1492774577,v1=${'0'.repeat(64)},v1=${signature},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`
    const stripe = (text: string, seconds = 1492774577) =>
      checkSignature(
        { scheme: 'stripe' },
        secret,
        request({ 'stripe-signature': text }, body, at(seconds)),
      )
    expect(stripe(header)).toMatchObject({ status: 'valid' })
    expect(stripe(header, 1492774577 - 600).reason).toContain('10 minutes after')
    expect(stripe(`t=1492774577,v0=${signature}`)).toMatchObject({ status: 'invalid' })
    // The time is signed, so it cannot be changed.
    expect(stripe(header.replace('1492774577', '1492774578'))).toMatchObject({ status: 'invalid' })
  })

  it('of Shopify hold', () => {
    const headers = { 'X-Shopify-Hmac-SHA256': hmac('hush', '{"id":820982911946154508}', 'base64') }
    expect(
      checkSignature({ scheme: 'shopify' }, 'hush', request(headers, '{"id":820982911946154508}')),
    ).toMatchObject({
      status: 'valid',
    })
  })

  it('of any other sender are verified with the configured header, prefix, algorithm and encoding', () => {
    const value = `v=${createHmac('sha512', 'key').update('body').digest('base64')}`
    const scheme = {
      scheme: 'hmac',
      header: 'x-signed',
      prefix: 'v=',
      algorithm: 'sha512',
      encoding: 'base64',
    } as const
    expect(checkSignature(scheme, 'key', request({ 'X-Signed': value }, 'body'))).toMatchObject({
      status: 'valid',
    })
    expect(
      checkSignature({ ...scheme, prefix: 'w=' }, 'key', request({ 'X-Signed': value }, 'body')),
    ).toMatchObject({
      status: 'invalid',
    })
  })
})

describe('a signature that does not hold', () => {
  const sign = (body: string, secret = 'key') => ({
    'X-Hub-Signature-256': `sha256=${hmac(secret, body)}`,
  })
  const github = (headers: Record<string, string>, body: string, secret = 'key') =>
    checkSignature({ scheme: 'github' }, secret, request(headers, body))

  it.each([
    ['{"a":"\\u00fc/x","b":1}', '{"a": "ü/x", "b": 1}', 'escaped non-ASCII characters'],
    ['{"a":"ü"}', '{"a": "ü"}', 'without spaces'],
    ['{"url":"https:\\/\\/x"}', '{"url":"https://x"}', 'escaped slashes'],
    ['text', 'text\n', 'without its final line break'],
    ['text\n', 'text', 'with a final line break'],
    ['a\nb', 'a\r\nb', 'LF line breaks'],
  ])('says how the body was changed on its way: %j came as %j', (signed, came, words) => {
    const verdict = github(sign(signed), came)
    expect(verdict.status).toBe('invalid')
    expect(verdict.reason).toContain(words)
  })

  it('detects a secret that was copied with a space', () => {
    expect(github(sign('x'), 'x', ' key\n').reason).toContain('without surrounding spaces')
  })

  it('concludes that another secret signed it, when nothing else matches', () => {
    expect(github(sign('x', 'other'), 'x').reason).toContain('the secret is different')
  })

  it('is reported as unsigned when missing, and never as valid', () => {
    for (const scheme of SIGNATURE_SCHEMES) {
      expect(checkSignature({ scheme, header: 'x' }, 'key', request({}, 'x'))).toMatchObject({
        status: 'unsigned',
      })
    }
    expect(github({ 'X-Hub-Signature-256': '' }, 'x')).toMatchObject({ status: 'invalid' })
    expect(github({ 'X-Hub-Signature-256': 'sha256=zz' }, 'x')).toMatchObject({ status: 'invalid' })
  })

  it('is unknown when the stored body is truncated', () => {
    const cut = request(sign('whole'), 'who', new Date(), true)
    expect(checkSignature({ scheme: 'github' }, 'key', cut)).toMatchObject({ status: 'unknown' })
  })
})

it('never holds for strangers’ bytes, and never throws', () => {
  const headers = fc.dictionary(
    fc.constantFrom(
      'x-hub-signature-256',
      'stripe-signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'x-slack-signature',
      'x-slack-request-timestamp',
      'x-shopify-hmac-sha256',
      'x',
    ),
    fc.oneof(
      fc.string(),
      fc.constantFrom('sha256=', 't=1,v1=00', 'v1,AAAA', 'v0=00', '1e99', '-1'),
    ),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...SIGNATURE_SCHEMES),
      headers,
      fc.string(),
      fc.string({ minLength: 1 }),
      (scheme, names, body, secret) => {
        expect(
          checkSignature({ scheme, header: 'x' }, secret, request(names, body)).status,
        ).not.toBe('valid')
      },
    ),
  )
})

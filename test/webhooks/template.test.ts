import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyText } from '../any-text.ts'
import { fillTemplate as fillBytes } from '../../src/webhooks/capture/response-template.ts'
import { MAX_TEMPLATE_VALUE_BYTES } from '../../src/webhooks/limits.ts'

const fillTemplate = (...args: Parameters<typeof fillBytes>) =>
  Buffer.from(fillBytes(...args), 'latin1').toString('utf8')

const context = (body = '', query = '', headers: [string, string][] = [], secret = '') => ({
  body: Buffer.from(body),
  query,
  headers,
  secret,
})

describe('a template', () => {
  it.each([
    [
      '{{body.challenge}}',
      context('{"challenge":"3eZb","type":"url_verification"}'),
      '3eZb',
      'Slack',
    ],
    [
      '{{query.hub.challenge}}',
      context('', 'hub.mode=subscribe&hub.challenge=11%2054'),
      '11 54',
      'Meta',
    ],
    ['{{header.X-Hook-Secret}}', context('', '', [['x-hook-secret', 'abc']]), 'abc', 'Asana'],
    ['{{ body.list.1.id }}', context('{"list":[{},{"id":7}]}'), '7', 'numbers in lists'],
    ['{{body.a}}', context('a=1+2&b=3'), '1 2', 'forms'],
    ['{{body.all}}', context('{"all":{"x":[1]}}'), '{"x":[1]}', 'whole parts'],
    ['[{{body.none}}{{query.none}}{{header.none}}]', context('no json'), '[]', 'what is missing'],
    ['[{{body.constructor}}{{body.__proto__.toString}}]', context('{}'), '[]', 'what nobody sent'],
    [
      '{{ other }} {{body.}} {body.a}',
      context('{"a":1}'),
      '{{ other }} {{body.}} {body.a}',
      'other braces',
    ],
    ['{{body}}', context('as it came'), 'as it came', 'the whole body'],
  ])('%s is filled in: %#', (template, given, expected) => {
    expect(fillTemplate(template, 'text/plain', given)).toBe(expected)
  })

  it('signs with the endpoint’s secret, as Zoom and Twitter require', () => {
    const zoom = fillTemplate(
      '{{hmac_sha256 body.payload.plainToken}}',
      'text/plain',
      context('{"payload":{"plainToken":"q"}}', '', [], 's'),
    )
    expect(zoom).toBe(createHmac('sha256', 's').update('q').digest('hex'))
    const twitter = fillTemplate(
      'sha256={{hmac_sha256_base64 query.crc_token}}',
      'text/plain',
      context('', 'crc_token=q', [], 's'),
    )
    expect(twitter).toBe(`sha256=${createHmac('sha256', 's').update('q').digest('base64')}`)
  })

  it('escapes values in JSON and markup', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 1_000 }), (value) => {
        const given = context(JSON.stringify({ value }))
        const json = fillTemplate(
          '{"x":"{{body.value}}"}',
          'application/problem+json; charset=utf-8',
          given,
        )
        expect(JSON.parse(json)).toEqual({ x: JSON.parse(JSON.stringify(value)) })
        expect(fillTemplate('{{body.value}}', 'text/html', given)).not.toMatch(/[<>"']/)
      }),
    )
  })

  it('stays small, for any request', () => {
    const given = context(JSON.stringify({ a: 'x'.repeat(1_000_000) }))
    expect(
      fillTemplate('{{body.a}}'.repeat(5_000), 'text/plain', given).length,
    ).toBeLessThanOrEqual(MAX_TEMPLATE_VALUE_BYTES)
  })
})

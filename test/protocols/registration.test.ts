import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RDAP_SERVERS, rdapUrl } from '../../src/protocols/rdap-servers.ts'
import { parseRegistration } from '../../src/protocols/registration.ts'

const ANSWER = {
  objectClassName: 'domain',
  ldhName: 'EXAMPLE.COM',
  status: ['client transfer prohibited', 7],
  events: [
    { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
    { eventAction: 'expiration', eventDate: '2027-08-13T04:00:00Z' },
    { eventAction: 'last changed' },
  ],
  entities: [
    { roles: ['technical'], handle: 'T' },
    {
      roles: ['registrar'],
      handle: '292',
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Example\u202e\nRegistrar'],
        ],
      ],
    },
  ],
}

describe('an RDAP answer', () => {
  it('gives expiry, registrar and statuses', () => {
    expect(parseRegistration(JSON.stringify(ANSWER))).toEqual({
      expiresAt: new Date('2027-08-13T04:00:00Z'),
      registeredAt: new Date('1995-08-14T04:00:00Z'),
      registrar: 'Example Registrar',
      statuses: ['client transfer prohibited'],
    })
  })

  it('has null for what the registry does not publish', () => {
    expect(parseRegistration('{"objectClassName": "domain"}')).toEqual({
      expiresAt: null,
      registeredAt: null,
      registrar: null,
      statuses: [],
    })
  })

  it('is null for anything else', () => {
    for (const text of [
      '',
      'null',
      '[]',
      '{"objectClassName": "entity"}',
      '{"errorCode": 404}',
      '<html>',
    ])
      expect(parseRegistration(text)).toBeNull()
  })

  it('never makes the reader throw', () => {
    const parts = fc.record({
      objectClassName: fc.constant('domain'),
      events: fc.jsonValue(),
      entities: fc.jsonValue(),
      status: fc.jsonValue(),
    })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), parts), (value) => {
        parseRegistration(JSON.stringify(value))
      }),
    )
  })
})

describe('the RDAP server of a domain', () => {
  it('is chosen by the longest suffix', () => {
    const servers = { uk: 'https://one.test/', 'co.uk': 'https://two.test/rdap/' }
    expect(rdapUrl('example.co.uk', servers)?.href).toBe(
      'https://two.test/rdap/domain/example.co.uk',
    )
    expect(rdapUrl('example.org.uk', servers)?.href).toBe('https://one.test/domain/example.org.uk')
    expect(rdapUrl('example.test', servers)).toBeNull()
    expect(rdapUrl('constructor.constructor', servers)).toBeNull()
  })

  it('is an HTTPS URL that ends in a slash', () => {
    for (const url of Object.values(RDAP_SERVERS)) expect(url).toMatch(/^https:\/\/[^?#]+\/$/)
  })
})

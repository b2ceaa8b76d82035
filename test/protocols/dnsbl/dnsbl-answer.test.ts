import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reversedLabels } from '../../../src/net/address.ts'
import type { DnsFailure } from '../../../src/net/dns.ts'
import {
  hasEntry,
  meaningsOf,
  queryName,
  reasonOf,
  interpretAnswer,
} from '../../../src/protocols/dnsbl/dnsbl-answer.ts'
import { answered, failed, listOf, nxdomain, texts } from './dnsbl-answers.ts'

describe('the query name', () => {
  it('has the octets of an IPv4 address last first, and is absolute', () => {
    expect(queryName(reversedLabels('192.0.2.4'), listOf())).toBe('4.2.0.192.bl.example.')
  })
  it('has the nibbles of an IPv6 address last first', () => {
    const nibbles = '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2'
    expect(queryName(reversedLabels('2001:db8::1'), listOf())).toBe(`${nibbles}.bl.example.`)
  })
  it('has the key where the list wants it', () => {
    const inZone = listOf({ keyTemplate: '{key}.zen.example' })
    const first = listOf({ keyTemplate: '{key}.{reversed}.dnsbl.example' })
    expect(queryName('4.2.0.192', inZone, 'abc')).toBe('4.2.0.192.abc.zen.example.')
    expect(queryName('4.2.0.192', first, 'abc')).toBe('abc.4.2.0.192.dnsbl.example.')
    expect(queryName('4.2.0.192', inZone)).toBe('4.2.0.192.bl.example.')
  })
})

const strict = listOf({
  codes: { '127.0.0.2': 'spam' },
  notListedCodes: { '127.0.0.1': 'good' },
  strictCodes: true,
})
const usesOne = listOf({ codes: { '127.0.0.1': 'open proxy' } })

describe('the verdict', () => {
  it.each([
    ['a hit', answered('127.0.0.2'), listOf(), 'listed'],
    ['a hit with an undocumented code', answered('127.0.0.77'), listOf(), 'listed'],
    ['NXDOMAIN', nxdomain, listOf(), 'clean'],
    ['NODATA', answered(), listOf(), 'clean'],
    ['a code that means something good', answered('127.0.0.1'), strict, 'clean'],
    ['a documented code of a strict list', answered('127.0.0.2'), strict, 'listed'],
    ['a good and a bad code', answered('127.0.0.1', '127.0.0.2'), strict, 'listed'],
    ['an undocumented code of a strict list', answered('127.0.0.77'), strict, 'unknown'],
    [
      'an undocumented code of a strict list beside a good one',
      answered('127.0.0.1', '127.0.0.77'),
      strict,
      'unknown',
    ],
    ['127.0.0.1', answered('127.0.0.1'), listOf(), 'unknown'],
    ['127.0.0.1 where the list uses it', answered('127.0.0.1'), usesOne, 'listed'],
    ['a refusal', answered('127.255.255.254'), listOf(), 'unknown'],
    ['a refusal nobody documents', answered('127.255.255.7'), listOf(), 'unknown'],
    [
      'a refusal only this list uses',
      answered('127.0.0.9'),
      listOf({ refusalCodes: { '127.0.0.9': 'no' } }),
      'unknown',
    ],
    [
      'an undocumented hit beside a refusal',
      answered('127.0.0.2', '127.255.255.254'),
      listOf(),
      'unknown',
    ],
    ['an address outside 127.0.0.0/8', answered('203.0.113.80'), listOf(), 'unknown'],
    [
      'an undocumented hit beside such an address',
      answered('127.0.0.2', '203.0.113.80'),
      listOf(),
      'unknown',
    ],
  ])('of %s', (_what, answer, list, status) => {
    expect(interpretAnswer(answer, list).status).toBe(status)
  })

  it('keeps all codes, in order', () => {
    expect(
      interpretAnswer(answered('127.0.0.10', '127.0.0.2', '127.0.0.4', '127.0.0.2'), listOf())
        .codes,
    ).toEqual(['127.0.0.2', '127.0.0.4', '127.0.0.10'])
  })

  it('explains why it is unknown', () => {
    expect(interpretAnswer(answered('127.255.255.254'), listOf())).toMatchObject({
      refused: true,
      detail:
        'Refuses to answer this resolver: query came through a public or open resolver (127.255.255.254).',
    })
    expect(interpretAnswer(answered('203.0.113.80'), listOf())).toMatchObject({
      detail: expect.stringContaining('203.0.113.80'),
    })
    expect(interpretAnswer(failed('TIMEOUT'), listOf())).toMatchObject({
      detail: 'Did not answer in time.',
    })
  })
})

const octet = fc.integer({ min: 0, max: 255 })
const address = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'))
const outside = address.filter((ip) => !ip.startsWith('127.'))
const code = fc.tuple(octet, octet, octet).map((octets) => `127.${octets.join('.')}`)
const lists = fc.record({
  listed: fc.array(code, { maxLength: 4 }),
  good: fc.array(code, { maxLength: 4 }),
  strictCodes: fc.boolean(),
})
const listWith = ({
  listed,
  good,
  strictCodes,
}: {
  listed: string[]
  good: string[]
  strictCodes: boolean
}) => listOf({ codes: codesFor(listed), notListedCodes: codesFor(good), strictCodes })
const codesFor = (all: string[]) => Object.fromEntries(all.map((each) => [each, 'why']))

describe('any answer of a blocklist', () => {
  it('is no listing without an answer in 127.0.0.0/8', () => {
    fc.assert(
      fc.property(fc.array(outside, { minLength: 1 }), lists, (codes, fields) => {
        expect(interpretAnswer(answered(...codes), listWith(fields)).status).toBe('unknown')
      }),
    )
  })
  it('is a listing with a documented code in it', () => {
    fc.assert(
      fc.property(code, fc.array(address), lists, (listed, others, fields) => {
        const list = listWith({ ...fields, listed: [...fields.listed, listed] })
        expect(interpretAnswer(answered(...others, listed), list).status).toBe('listed')
      }),
    )
  })
  it('is clean only with no answer, or with codes documented as no listing', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(address, code)), lists, (codes, fields) => {
        const clean = interpretAnswer(answered(...codes), listWith(fields)).status === 'clean'
        if (clean) expect(codes.filter((each) => !fields.good.includes(each))).toEqual([])
      }),
    )
  })
  it('is not clean for an alias that leads nowhere', () => {
    const dangling = { ...answered(), cnames: ['loop.example'] }
    expect(interpretAnswer(dangling, listOf())).toMatchObject({
      status: 'unknown',
      detail: expect.stringContaining('alias'),
    })
  })

  it('is unknown when there was no answer', () => {
    const failures: DnsFailure[] = [
      'SERVFAIL',
      'REFUSED',
      'FORMERR',
      'NOTIMP',
      'TIMEOUT',
      'NETWORK',
      'ABORTED',
      'OTHER',
    ]
    for (const failure of failures) {
      expect(interpretAnswer(failed(failure), strict)).toMatchObject({
        status: 'unknown',
        detail: expect.stringMatching(/\.$/),
      })
    }
  })
})

describe('a test entry', () => {
  it('may answer any code of 127.0.0.0/8, also an undocumented one', () => {
    expect(hasEntry(answered('127.0.0.99'), strict)).toBe(true)
  })
  it('is not a blocked query, 127.0.0.1 or an address outside 127.0.0.0/8', () => {
    for (const each of ['127.255.255.254', '127.0.0.1', '203.0.113.80'])
      expect(hasEntry(answered(each), listOf())).toBe(false)
    expect(hasEntry(nxdomain, listOf())).toBe(false)
    expect(hasEntry(failed('TIMEOUT'), listOf())).toBe(false)
  })
})

describe('the meaning of codes', () => {
  it('is the documented meaning, or the bits of the last octet', () => {
    const list = listOf({
      codes: { '127.0.0.2': 'spam' },
      bitmask: { '1': 'proxy', '16': 'mail', '64': 'abuse' },
    })
    expect(meaningsOf(['127.0.0.2', '127.0.0.65'], list)).toEqual(['spam', 'proxy', 'abuse'])
  })
})

describe('the text of a listing', () => {
  it('joins the strings of a record, also inside a character, and names each reason once', () => {
    const umlaut = Buffer.from('gelöscht')
    const cut = [umlaut.subarray(0, 4), umlaut.subarray(4)]
    expect(reasonOf(texts(cut, 'Spam seen', 'Spam seen'))).toBe('gelöscht | Spam seen')
  })
  it('shows neither the key nor control characters, and is at most 512 characters long', () => {
    expect(reasonOf(texts('See https://example/?k=SeCret1\u0007\r\n\u202eyes'), 'secret1')).toBe(
      'See https://example/?k=*** yes',
    )
    expect(reasonOf(texts('x'.repeat(5000)))).toHaveLength(512)
  })
  it('is null when there is none', () => {
    expect(reasonOf(texts(''))).toBeNull()
    expect(reasonOf(failed('TIMEOUT'))).toBeNull()
  })
  it('never contains control characters or the key, for any answer', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (data) => {
        const said =
          reasonOf(
            texts(...data.map((bytes) => [Buffer.from(bytes), Buffer.from('kEy77')])),
            'key77',
          ) ?? ''
        expect(said).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]|key77/iu)
        expect(said.length).toBeLessThanOrEqual(512)
        expect(said.isWellFormed()).toBe(true)
      }),
    )
  })
})

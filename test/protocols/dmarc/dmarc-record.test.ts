import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatDmarc,
  repairDmarc,
  findNearMiss,
} from '../../../src/protocols/dmarc/repair-dmarc.ts'
import {
  effectivePolicy,
  explainTag,
  parseDmarc,
  parseReportUri,
  requestedPolicy,
  type DmarcRecord,
} from '../../../src/protocols/dmarc/dmarc-record.ts'
import { hostile, within } from '../reports/hostile.ts'

function record(text: string): DmarcRecord {
  const parsed = parseDmarc(text)
  if (!parsed) throw new Error(`no DMARC record: ${text}`)
  return parsed
}

describe('a DMARC record', () => {
  it('has default values for missing tags', () => {
    expect(record('v=DMARC1; p=none')).toMatchObject({
      p: 'none',
      sp: null,
      np: null,
      adkim: 'r',
      aspf: 'r',
      fo: ['0'],
      psd: 'u',
      testing: false,
      rua: [],
      ruf: [],
      invalid: [],
    })
  })

  it('has values in any case, and spaces around the equals sign', () => {
    const text =
      'v = DMARC1; p = Reject; SP=none; sp=QUARANTINE; np=None; adkim=S; aspf=s; t=Y; psd=N; fo=1:D:s'
    expect(record(text)).toMatchObject({
      p: 'reject',
      sp: 'quarantine',
      np: 'none',
      adkim: 's',
      aspf: 's',
    })
    expect(record(text)).toMatchObject({ testing: true, psd: 'n', fo: ['1', 'd', 's'] })
  })

  it('sends reports to each URI, an obsolete size limit left out', () => {
    const { rua, ruf } = record(
      'v=DMARC1; p=none; rua=mailto:a@Example.COM!10m , https://x.example/r; ruf=b@c.example',
    )
    expect(rua).toEqual([
      { uri: 'mailto:a@Example.COM', host: 'example.com', size: '10m' },
      { uri: 'https://x.example/r', host: 'x.example', size: null },
    ])
    expect(ruf).toEqual([{ uri: 'b@c.example', host: null, size: null }])
  })

  it('has hosts of reports in A-labels', () => {
    expect(parseReportUri('mailto:dmarc@münchen.example.').host).toBe('xn--mnchen-3ya.example')
  })

  it.each([
    'v=DMARC1; p=never',
    'v=DMARC1; p=none; sp=',
    'v=DMARC1; p=none; fo=2',
    'v=DMARC1; p=none; t=maybe',
    'v=DMARC1; p=none; adkim=relaxed',
  ])('names the invalid tag of %j', (text) => {
    expect(record(text).invalid).toHaveLength(1)
  })

  it.each([
    'v=dmarc1; p=none',
    'v=DMARc1; p=none',
    'v=DMARC1x; p=none',
    'p=none; v=DMARC1',
    'v=DMARC1 p=none',
    'v=DMARC2; p=none',
    ';v=DMARC1; p=none',
    ' v=DMARC1; p=none',
    '\tv=DMARC1; p=none',
    '"v=DMARC1; p=none"',
    'v=spf1 -all',
    '',
  ])('is not %j', (text) => {
    expect(parseDmarc(text)).toBeNull()
  })

  // The forms that the cases of checkdmarc and mailauth have, and RFC 9989, 4.8.
  it.each([
    'V=DMARC1; p=reject',
    'v = DMARC1;p=reject;',
    'v = DMARC1\t;\tp=reject\t;',
    'v = DMARC1\t;\tp\t\t\t=\t\t\treject\t;',
    'V = DMARC1;p=ReJect',
    'v=DMARC1 ;  p = reject  ; pct = 100 ',
  ])('is %j', (text) => {
    expect(record(text)).toMatchObject({
      p: 'reject',
      errors: [],
      tags: expect.arrayContaining([{ name: 'v', value: 'DMARC1', at: 0 }]),
    })
  })

  it.each(['0:1', '1:0:d', 'd:d', '0:', 'x'])('has no failure options %j', (fo) => {
    expect(record(`v=DMARC1; p=none; fo=${fo}`)).toMatchObject({
      fo: ['0'],
      invalid: [{ name: 'fo' }],
    })
  })

  it('keeps unknown tags as published', () => {
    expect(record('v=DMARC1; p=none; x=1; constructor=2').tags.map(({ name }) => name)).toEqual([
      'v',
      'p',
      'x',
      'constructor',
    ])
  })
})

describe('the policy of a record', () => {
  const all = 'v=DMARC1; p=reject; sp=quarantine; np=none'
  it.each([
    [all, 'own', 'reject', 'p'],
    [all, 'subdomain', 'quarantine', 'sp'],
    [all, 'nonexistent', 'none', 'np'],
    ['v=DMARC1; p=reject; np=none', 'subdomain', 'reject', 'p'],
    ['v=DMARC1; p=reject; sp=none', 'nonexistent', 'none', 'sp'],
    ['v=DMARC1; p=reject', 'nonexistent', 'reject', 'p'],
    ['v=DMARC1; rua=mailto:a@b.example', 'own', 'none', 'p'],
    ['v=DMARC1; p=x; rua=mailto:a@b.example', 'own', 'none', 'p'],
    ['v=DMARC1; p=reject; sp=x; rua=mailto:a@b.example', 'own', 'none', 'p'],
  ] as const)('%j asks for mail of its %s name: %s, by %s', (text, standing, policy, tag) => {
    expect(requestedPolicy(record(text), standing)).toEqual({ policy, tag })
  })

  it.each(['v=DMARC1', 'v=DMARC1; p=x', 'v=DMARC1; p=reject; np=x', 'v=DMARC1; rua=nobody'])(
    'does not exist when %j has neither a valid policy nor a usable address',
    (text) => {
      expect(requestedPolicy(record(text), 'own')).toBeNull()
      expect(effectivePolicy(record(text), 'own')).toBeNull()
    },
  )

  it.each([
    ['reject', 'quarantine'],
    ['quarantine', 'none'],
    ['none', 'none'],
  ])('with t=y is one level less: %s becomes %s', (asked, applied) => {
    expect(effectivePolicy(record(`v=DMARC1; p=${asked}; t=y`), 'own')).toBe(applied)
  })
})

describe('a repaired record', () => {
  it.each([
    ['v=DMARC1; p=reject; pct=100; rf=afrf; ri=86400', 'v=DMARC1; p=reject'],
    ['v=DMARC1; p=reject; pct=0', 'v=DMARC1; p=reject; t=y; pct=0'],
    ['v=DMARC1; p=none; pct=10', 'v=DMARC1; p=none'],
    ['v=DMARC1; rua=a@b.example', 'v=DMARC1; p=none; rua=mailto:a@b.example'],
    ['v=DMARC1; p=reject; sp=x; policy=y', 'v=DMARC1; p=reject'],
    ['v=DMARC1; p=reject; fo=1', 'v=DMARC1; p=reject'],
    [
      'v=DMARC1; rua=mailto:a@b.example!10m,mailto:c@d.example; p=none',
      'v=DMARC1; p=none; rua=mailto:a@b.example,mailto:c@d.example',
    ],
  ])('of %j is %j', (text, repaired) => {
    expect(repairDmarc(record(text))).toBe(repaired)
  })

  it('needs no second repair, for any input', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        const repaired = repairDmarc(parseDmarc(`v=DMARC1;${text}`) as DmarcRecord)
        const again = record(repaired)
        expect(again.invalid).toEqual([])
        expect(again.errors).toEqual([])
        expect(again.p).not.toBeNull()
        expect(repairDmarc(again)).toBe(repaired)
      }),
    )
  })

  it('parses its own output', () => {
    const text = formatDmarc({ p: 'reject', sp: 'none', rua: 'mailto:a@b.example', t: '' })
    expect(text).toBe('v=DMARC1; p=reject; sp=none; rua=mailto:a@b.example')
  })
})

describe('a near miss', () => {
  it.each([
    ['v=dmarc1; p=reject', /exactly/, 'v=DMARC1; p=reject'],
    ['v=DMARC1 p=reject', /semicolon/, 'v=DMARC1; p=reject'],
    ['"v=DMARC1; p=reject"', /quotation/, 'v=DMARC1; p=reject'],
    [
      'p=reject; rua=mailto:a@b.example',
      /does not begin/,
      'v=DMARC1; p=reject; rua=mailto:a@b.example',
    ],
    ['p=reject; v=DMARC1', /first/, 'v=DMARC1; p=reject'],
    ['v=DMARC; p=none', /exactly/, 'v=DMARC1; p=none'],
    [' v=DMARC1; p=reject', /white space/, 'v=DMARC1; p=reject'],
    ['\t\r\nV=dmarc1; p=none', /white space/, 'v=DMARC1; p=none'],
  ])('of %j says why and what was meant', (text, why, repaired) => {
    expect(findNearMiss(text)).toEqual({ text, reason: expect.stringMatching(why), repaired })
  })

  it.each(['v=DMARC1; p=none', 'v=spf1 -all', 'google-site-verification=x', ''])(
    'is not %j',
    (text) => {
      expect(findNearMiss(text)).toBeNull()
    },
  )
})

const explain = (name: string, value: string) => explainTag({ name, value, at: 0 })

describe('the words for a tag', () => {
  it('describe its effect', () => {
    expect(explain('p', 'REJECT')).toMatch(/this domain .* rejected/)
    expect(explain('fo', '1:s')).toMatch(/either SPF or DKIM .* SPF fails/)
    expect(explain('rua', 'mailto:A@b.example, mailto:c@d.example')).toBe(
      'Aggregate reports go to mailto:A@b.example and mailto:c@d.example.',
    )
    expect(explain('pct', '50')).toMatch(/ignored/)
  })
  it('do not explain unknown or invalid tags', () => {
    expect(explain('constructor', 'x')).toMatch(/ignore/)
    expect(explain('p', 'never')).toMatch(/Not a valid value/)
  })
})

function readAll(text: string): void {
  parseDmarc(text)?.tags.forEach(explainTag)
  const parsed = parseDmarc(text)
  if (parsed) repairDmarc(parsed)
  findNearMiss(text)
}

describe('any published record', () => {
  it('is read without an error', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        readAll(text)
        readAll(`v=DMARC1;${text}`)
      }),
      { numRuns: 500 },
    )
  })

  it('is read in a time in proportion to its length', () => {
    within(
      readAll,
      ['a=1;', ';', ' ', ',', 'mailto:a@b.example,', '!1', 'fo=0:', '0:', 'p=none;', '"', '@'],
      ['v=DMARC1;', 'v=DMARC1; p=none; rua=', 'v=DMARC1; fo=', 'v=dmarc1 ', '"'],
    )
  })
})

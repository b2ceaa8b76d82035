import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearMissesOf, repairSpf } from '../../../src/protocols/spf/repair-spf.ts'
import { hostile, within } from '../reports/hostile.ts'
import { damagedSpf, expectHarmless } from './damaged-spf.ts'

describe('a repaired SPF record', () => {
  it.each([
    // Wrong names of mechanisms, and the other family.
    [
      ['v=spf1 ip:192.0.2.1 includes:example.com +all'],
      'v=spf1 ip4:192.0.2.1 include:example.com ~all',
    ],
    [
      ['v=spf1 ipv6:2001:db8::1 ip4:2001:db8::2 ~all'],
      'v=spf1 ip6:2001:db8::1 ip6:2001:db8::2 ~all',
    ],
    [['v=spf1 a:192.0.2.1 mx:192.0.2.0/28 -all'], 'v=spf1 ip4:192.0.2.1 ip4:192.0.2.0/28 -all'],
    [['v=spf1 -192.0.2.1 2001:db8::/32 -all'], 'v=spf1 -ip4:192.0.2.1 ip6:2001:db8::/32 -all'],
    [
      ['v=spf1 ip4=192.0.2.1 include=a.example -all'],
      'v=spf1 ip4:192.0.2.1 include:a.example -all',
    ],
    [['v=spf1 mx redirect:b.example'], 'v=spf1 mx redirect=b.example'],
    // Spaces.
    [
      ['v=spf1 ip4 :192.0.2.1 include : a.example - all'],
      'v=spf1 ip4:192.0.2.1 include:a.example -all',
    ],
    [['v=spf1 a-all'], 'v=spf1 a -all'],
    [['v=spf1mx~all'], 'v=spf1 mx ~all'],
    [['v=spf1-all'], 'v=spf1 -all'],
    [['spf1 mx -all'], 'v=spf1 mx -all'],
    [['v=\u0455\u0440f1 mx -all'], 'v=spf1 mx -all'],
    [['v=spf1 include:a.example-all'], 'v=spf1 include:a.example -all'],
    [
      ['v=spf1 include:a.exampleinclude:b.exampleip4:192.0.2.1~all'],
      'v=spf1 include:a.example include:b.example ip4:192.0.2.1 ~all',
    ],
    // Separators of other formats, and characters that look like those of ASCII.
    [['"v=spf1 mx" "-all"'], 'v=spf1 mx -all'],
    [['v=spf1; mx, ip4:192.0.2.1,192.0.2.2; -all;'], 'v=spf1 mx ip4:192.0.2.1 ip4:192.0.2.2 -all'],
    [
      ['v=spf1 include:a.example,include:b.example ~all'],
      'v=spf1 include:a.example include:b.example ~all',
    ],
    [['v=spf1 mx\u2003\u2212all'], 'v=spf1 mx -all'],
    [['\ufeffv=spf1 ip4\uff1a192\uff0e0\uff0e2\uff0e1 -\u200ball'], 'v=spf1 ip4:192.0.2.1 -all'],
    [['v=spf1 mx\\160\\150all'], 'v=spf1 mx -all'],
    [['v=spf1 \u0430:mail.example.com \u0456\u0440\u04474:192.0.2.1 -all'], null],
    [['v=spf1 \u0430:mail.example.com -\u0430ll'], 'v=spf1 a:mail.example.com -all'],
    // Several of one kind, and what has no effect.
    [
      ['v=spf1 mx include:a.example ~all', 'v=spf1 mx include:b.example -all'],
      'v=spf1 mx include:a.example include:b.example ~all',
    ],
    [['v=spf1 mx -all v=spf1 mx a ~all'], 'v=spf1 mx a -all'],
    [['v=spf1 mx ?all ~all -all'], 'v=spf1 mx ~all'],
    [['v=spf1 mx -all', 'v=spf1 a -all'], 'v=spf1 mx a -all'],
    [['v=spf1 mx -all', 'v=spf1 a +all'], 'v=spf1 mx a ~all'],
    [['v=spf1 mx -all', 'v=spf1 a'], 'v=spf1 mx a ~all'],
    [['v=spf1 mx -all', 'v=spf1\u00a0a ~all'], 'v=spf1 mx a -all'],
    [['v=spf1 mx ~all', 'v=spf1\u00a0a -all'], 'v=spf1 mx a ~all'],
    [['v=spf1 mx redirect=b.example'], 'v=spf1 mx redirect=b.example'],
    [['v=spf1 redirect=b.example mx ~all'], 'v=spf1 mx include:b.example ~all'],
    [['v=spf1 mx'], 'v=spf1 mx ~all'],
    [['v=spf1 mx x=y -all'], 'v=spf1 mx -all'],
    [['v=spf1 mx ra=x exp=e.example rr=all -all'], 'v=spf1 mx -all exp=e.example ra=x rr=all'],
    [['v=spf1 mx ptr -all'], 'v=spf1 mx ptr -all'],
    [['v=spf1 mx ip4:0.0.0.0/0 ip6:::/0 -all'], 'v=spf1 mx -all'],
  ])('of %j is %j', (texts, value) => {
    expect(repairSpf(texts).value).toBe(value)
  })

  it.each([
    ['v=spf1 mx nonsense -all', ['nonsense']],
    ['v=spf1 mx ip4: -all', ['ip4:']],
    ['v=spf1 mx ip4:192.0.2 -all', ['ip4:192.0.2']],
    ['v=spf1 mx mail.example.com -all', ['mail.example.com']],
    ['v=spf1 include:a.example,b.example -all', ['b.example']],
    ['v=spf1 mx a:%{c}.example.com -all', ['a:%{c}.example.com']],
    ['v=spf1 mx include:\u0435xample.com -all', ['include:\u0435xample.com']],
    ['v=spf1 mx ip4:192.0.2.1\\226 -all', ['ip4:192.0.2.1\\226']],
    ['v=spf1 mx xip4=192.0.2.1 -all', ['xip4=192.0.2.1']],
    ['v=spf1 mx -al1', ['-al1']],
    ['v=spf10 mx -all', ['v=spf10 mx -all']],
    ['v=spf1.0 mx -all', ['v=spf1.0 mx -all']],
    ['=spf1 ip4:192.0.2.1 -all', ['=spf1 ip4:192.0.2.1 -all']],
    // Nothing is unclear, but all may be meant to forbid the rest, what stays would permit no one, or the length may be mistyped.
    ['v=spf1 -all include:a.example', []],
    ['v=spf1 +all', []],
    ['v=spf1 ?all', []],
    ['v=spf1', []],
    ['v=spf1 ip4:0.0.0.0/0 -all', []],
    ['v=spf1 mx ip4:192.0.2.1/2 -all', []],
    ['v=spf1 mx/0 -all', []],
  ])('of %j has no value', (text, unclear) => {
    expect(repairSpf([text])).toEqual({ value: null, unclear })
  })

  it('has no explanation of no use, and no term through which anyone may send', () => {
    const text = 'v=spf1 mx exists:always.example -all exp=e.example'
    expect(repairSpf([text], { dropsExplanation: true }).value).toBe(
      'v=spf1 mx exists:always.example -all',
    )
    expect(repairSpf([text], { open: ['exists:always.example'] }).value).toBeNull()
  })

  it('in place of several ends in -all only if each of them did', () => {
    const ends = fc.array(fc.constantFrom('-all', '~all', '?all', '+all', 'all'), { maxLength: 3 })
    fc.assert(
      fc.property(fc.array(ends, { minLength: 2, maxLength: 4 }), (several) => {
        const texts = several.map((alls, n) => `v=spf1 ip4:192.0.2.${n} ${alls.join(' ')}`)
        const first = several.map((alls) => alls.find((all) => !/^\+?all$/.test(all)))
        const end = first.every((all) => all === '-all') ? '-all' : '~all'
        expect(repairSpf(texts).value).toMatch(new RegExp(` ${end}$`))
      }),
    )
  })

  it('harms no one, however the record is damaged', () => {
    fc.assert(fc.property(damagedSpf, expectHarmless), { numRuns: 3_000 })
  })

  it('is found for most damaged records', () => {
    const found = fc.sample(damagedSpf, { numRuns: 1_000, seed: 7208 }).filter((text) => {
      return repairSpf([text]).value !== null
    })
    expect(found.length).toBeGreaterThan(400)
  })

  it('has no error and needs no second repair, for any input', () => {
    fc.assert(fc.property(hostile(), (text) => expectHarmless(`v=spf1 ${text}`)))
  })

  it('is found in a time in proportion to the length of the text', () => {
    within(
      (text) => repairSpf([text.slice(0, 4_096)]),
      ['a ', ': ', '- ', ';', 'a;', '~', '%{i}', 'ip4: ', 'x=', 'include:', '\\', '-all'],
      ['v=spf1 ', 'v=spf1 ip4:', 'v=spf1'],
    )
  })
})

describe('a text that resembles SPF', () => {
  it.each([
    '"v=spf1 mx -all"',
    ' v=spf1 mx',
    '\u0475=spf1 ip4:192.0.2.1 -all',
    'v=\u0455\u0440f1 mx',
    'spf1 ip4:192.0.2.1 -all',
    'v=sfp1 include:_spf.example.net ~all',
    'v=spf2.0/pra mx',
    'v = spf1 mx',
    'v=spf10 mx',
    'v=spf1\u00a0mx',
    'v\uff1dspf1 mx',
  ])('is %j', (text) => expect(nearMissesOf([text])).toEqual([text]))
  it.each([
    'v=spf1 mx',
    'v=spf1',
    'spf2.0/pra ip4:192.0.2.1 -all',
    'include:me',
    'all is well',
    'ip4:192.0.2.1',
    'v=DMARC1; p=none',
    'about v=spf1',
  ])('is not %j', (text) => expect(nearMissesOf([text])).toEqual([]))

  it('is one by its terms alone only when there is no record', () => {
    const texts = ['v=spf1 mx -all', 'old spf: include:a.example ~all', ' v=spf1 a']
    expect(nearMissesOf(texts)).toEqual([' v=spf1 a'])
    expect(nearMissesOf(texts.slice(1))).toEqual(texts.slice(1))
  })
})

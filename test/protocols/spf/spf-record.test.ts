import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  allOf,
  effectiveTerms,
  isSpf,
  parseSpf,
  permitsNoSender,
  redirectOf,
} from '../../../src/protocols/spf/spf-record.ts'
import { hostile, within } from '../reports/hostile.ts'

describe('an SPF record', () => {
  it.each(['v=spf1', 'v=spf1 ', 'V=SPF1 -all', 'v=spf1 -all'])('is %j', (text) => {
    expect(isSpf(text)).toBe(true)
  })
  it.each([
    'v=spf10 -all',
    ' v=spf1 -all',
    'v=spf1;-all',
    'v=spf1\t-all',
    'spf2.0/pra -all',
    '"v=spf1 -all"',
    '',
  ])('is not %j', (text) => {
    expect(isSpf(text)).toBe(false)
  })

  // RFC 7208, Appendix A, and sections 5 to 7.
  it.each([
    'v=spf1 +all',
    'v=spf1 a -all',
    'v=spf1 a:example.org -all',
    'v=spf1 mx -all',
    'v=spf1 mx:example.org -all',
    'v=spf1 mx mx:example.org -all',
    'v=spf1 mx/30 mx:example.org/30 -all',
    'v=spf1 ptr -all',
    'v=spf1 ip4:192.0.2.128/28 -all',
    'v=spf1 include:example.com include:example.net -all',
    'v=spf1 redirect=example.org',
    'v=spf1 mx -exists:%{l1r-}.%{ir}.%{v}._spf.%{d2} -all',
    'v=spf1 exists:%{ir}.%{v}.arpa.%{l1r+-}._spf.%{d} ?all',
    'v=spf1 a//64 a:example.org/24//64 mx:example.org//128 ~all',
    'v=spf1 ip6:2001:db8::/32 ip6:::1 ip6:::ffff:192.0.2.1 ?all',
    'v=spf1 -include:ip4._spf.%{d} -include:ptr._spf.%{d} +all',
    'v=spf1 exists:%{i}._spf.example.com. exp=explain._spf.%{d} unknown=anything/%%',
    'v=spf1 a:%{d0128r}.example.com exists:%%{c}.%{l1r+-,/_=.-+}.example.com -all',
    // RFC 7208, 6: whatever has an equals sign and an unknown name is a modifier, and ignored.
    'v=spf1 include=example.com ip4=192.0.2.1 a=x -all',
    'v=spf1   mx   -all  ',
    'V=SPF1 MX IP4:192.0.2.1 -ALL',
    // Published by Google, Microsoft 365, SendGrid, Mailchimp and others.
    'v=spf1 include:_spf.google.com ~all',
    'v=spf1 include:spf.protection.outlook.com -all',
    'v=spf1 ip4:167.89.0.0/17 ip4:208.117.48.0/20 ip4:50.31.32.0/19 ~all',
    'v=spf1 exists:%{i}._i.%{d}._d.espf.agari.com include:%{d}.0d.spf-protect.dmp.cisco.com ~all',
    'v=spf1 include:%{ir}.%{v}.%{d}.spf.has.pphosted.com ~all',
  ])('of the form %j has no error', (text) => {
    expect(parseSpf(text).errors).toEqual([])
  })

  it.each([
    ['v=spf1 a:example.org/33 -all', 7, /out of range/],
    ['v=spf1 mx//129 -all', 7, /out of range/],
    ['v=spf1 ip4:192.0.2.256 -all', 7, /IPv4/],
    ['v=spf1 ip4:192.0.2.1/033 -all', 7, /number up to 32/],
    ['v=spf1 ip4:192.0.2.1/24/24 -all', 7, /number up to 32/],
    ['v=spf1 ip6:192.0.2.1 -all', 7, /IPv6/],
    ['v=spf1 mx ip4: -all', 10, /IPv4/],
    ['v=spf1 ip:192.0.2.1 -all', 7, /ip4 is probably meant/],
    ['v=spf1 include -all', 7, /domain must follow/],
    ['v=spf1 include: -all', 7, /domain must follow/],
    ['v=spf1 include:localhost -all', 7, /is not a domain name/],
    ['v=spf1 include:example..com -all', 7, /empty label/],
    ['v=spf1 include:192.0.2.1 -all', 7, /is not a domain name/],
    ['v=spf1 a:%{c}.example.com -all', 7, /%\{c\} is allowed only in the text/],
    ['v=spf1 exists:%{i}.%{R2r-}.example.com -all', 7, /%\{R2r-\} is allowed only/],
    ['v=spf1 redirect=%{t}.example.com', 7, /only in the text that `exp` refers to/],
    ['v=spf1 -all exp=%{r}.example.com', 12, /only in the text that `exp` refers to/],
    ['v=spf1 x=%{c} -all', 7, /only in the text that `exp` refers to/],
    ['v=spf1 a:%{d0}.example.com -all', 7, /0 parts/],
    ['v=spf1 a mx all:example.com', 12, /can follow `all`/],
    ['v=spf1 exists:%{x}.example.com -all', 7, /not a macro/],
    ['v=spf1 exists:%(i).example.com -all', 7, /not a macro/],
    ['v=spf1 exists:%.example.com -all', 7, /not a macro/],
    ['v=spf1 redirect=a.example redirect=b.example', 26, /only once/],
    ['v=spf1 redirect= -all', 7, /is not a domain name/],
    ['v=spf1 hello -all', 7, /not an SPF mechanism/],
    ['v=spf1 -all;', 7, /not an SPF mechanism/],
    ['v=spf1 \u2013all', 7, /not an SPF mechanism/],
    ['v=spf1 include:münchen.example -all', 7, /ASCII/],
    ['v=spf1 mx,a -all', 7, /not an SPF mechanism/],
  ])('of the form %j has an error at %i', (text, at, message) => {
    expect(parseSpf(text).errors).toEqual([
      { at, text: text.slice(at).split(' ')[0], message: expect.stringMatching(message) },
    ])
  })

  it('has terms with their qualifier, value and prefixes', () => {
    expect(parseSpf('v=spf1 ?a:Example.org/24//64 ~all exp=e.example').terms).toEqual([
      {
        kind: 'mechanism',
        name: 'a',
        qualifier: '?',
        value: 'Example.org',
        cidr4: 24,
        cidr6: 64,
        text: '?a:Example.org/24//64',
        at: 7,
      },
      {
        kind: 'mechanism',
        name: 'all',
        qualifier: '~',
        value: null,
        cidr4: null,
        cidr6: null,
        text: '~all',
        at: 29,
      },
      { kind: 'modifier', name: 'exp', value: 'e.example', text: 'exp=e.example', at: 34 },
    ])
  })

  it('has no effect behind all, and no redirect beside it', () => {
    const record = parseSpf('v=spf1 redirect=b.example a -all mx exp=e.example')
    expect(effectiveTerms(record).map(({ text }) => text)).toEqual(['a', '-all', 'exp=e.example'])
    expect(redirectOf(record)).toBeNull()
    expect(redirectOf(parseSpf('v=spf1 a redirect=b.example'))).toBe('b.example')
    expect(allOf(record)?.qualifier).toBe('-')
  })

  it.each([
    ['v=spf1 -all', true],
    ['v=spf1 -mx -all', true],
    ['v=spf1 mx -all', false],
    ['v=spf1 ~all', false],
    ['v=spf1', false],
    ['v=spf1 -all mx', true],
  ])('of the form %j permits nobody: %s', (text, nobody) => {
    expect(permitsNoSender(parseSpf(text))).toBe(nobody)
  })
})

describe('any published record', () => {
  it('is read without an error, each term where it stands', () => {
    fc.assert(
      fc.property(hostile(), (text) => {
        const record = parseSpf(`v=spf1 ${text}`)
        for (const term of [...record.terms, ...record.errors]) {
          expect(record.text.startsWith(term.text, term.at)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('is read in a time in proportion to its length', () => {
    within(
      parseSpf,
      [
        'a ',
        ' ',
        'a',
        ':',
        '/',
        '%',
        '%{',
        '%{i',
        '%{i}',
        '.',
        'a.',
        '1',
        '-all ',
        'ip4:1.2.3.4 ',
        'x=',
        '//1',
        'é',
      ],
      ['v=spf1 ', 'v=spf1 include:', 'v=spf1 a:', 'v=spf1 redirect=', 'v=spf1 ip:', 'v=spf1 a/'],
    )
  })
})

import { describe, expect, it } from 'vitest'
import type { DnsFailure } from '../../../src/net/dns.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { authenticateMail } from '../../../src/protocols/mail/mail-authentication.ts'
import { evaluateSpf } from '../../../src/protocols/spf/evaluate-spf.ts'
import type { SpfClient } from '../../../src/protocols/spf/spf-client.ts'
import { mapResolver } from '../../resolver.ts'
import type { Records } from '../../servers/dns-records.ts'

const CLIENT = { ip: '192.0.2.1', sender: 'strong-bad@email.example.com', helo: 'mta.example.net' }

const MAIL = Buffer.from('From: a@example.org\r\n\r\nHello\r\n')

/** Evaluates SPF as the checks do; for a received mail, the result must be the same. */
async function check(
  records: Records,
  changed: Partial<SpfClient> = {},
  failures: Record<string, DnsFailure> = {},
) {
  const resolver = mapResolver(records, failures)
  const { signal } = new AbortController()
  const client = { ...CLIENT, ...changed }
  const found = await evaluateSpf(client, createDnsQueries(resolver, signal))
  const envelope = { ...client, mta: 'mx.example.net' }
  const { spf } = await authenticateMail(MAIL, envelope, resolver, signal)
  expect(spf.result).toBe(found.result)
  return found
}

/** Evaluates a record of the sender’s domain for the client, with other records beside it. */
const says = (text: string, records: Records = {}, client: Partial<SpfClient> = {}) =>
  check({ 'email.example.com TXT': [text], ...records }, client)

const ADDRESSES: Records = {
  'host.example A': ['192.0.2.1', '192.0.2.200'],
  'host.example AAAA': ['2001:db8::1'],
  'other.example A': ['198.51.100.9'],
  'six.example AAAA': ['2001:db8::1'],
  'near.example A': ['192.0.2.77'],
  'near.example AAAA': ['2001:db8::7:0:0:1'],
  'mail.example MX': ['10 other.example', '20 host.example'],
  'far.example MX': ['10 other.example'],
  'null.example MX': ['0 .'],
  'plain.example A': ['192.0.2.1'],
}

describe('the domain whose SPF record applies (RFC 7208, 2.4 and 4.3)', () => {
  const zone: Records = {
    'email.example.com TXT': ['v=spf1 +all'],
    'mta.example.net TXT': ['v=spf1 -all exp=why.example.net'],
    'why.example.net TXT': ['%{s}'],
    [`${'a'.repeat(63)}.example.com TXT`]: ['v=spf1 ~all'],
  }
  it.each([
    ['strong-bad@email.example.com', 'pass'],
    ['@email.example.com', 'pass'],
    ['email.example.com', 'pass'],
    ['a@b@Email.Example.Com.', 'pass'],
    [`x@${'a'.repeat(63)}.example.com`, 'softfail'],
    ['', 'fail'],
    ['x@[192.0.2.1]', 'none'],
    ['x@localhost', 'none'],
    ['x@email..example.com', 'none'],
    [`x@${'a'.repeat(64)}.example.com`, 'none'],
    [`x@${'a.'.repeat(130)}example.com`, 'none'],
    ['x@nothing.example.com', 'none'],
  ])('of the sender %j gives %s', async (sender, result) => {
    expect(await check(zone, { sender })).toMatchObject({ result })
  })

  it('is the HELO domain for a bounce, with postmaster as sender', async () => {
    expect(await check(zone, { sender: '' })).toMatchObject({
      explanation: 'postmaster@mta.example.net',
    })
    expect(await check(zone, { sender: '', helo: '[192.0.2.1]' })).toMatchObject({ result: 'none' })
    expect(await check(zone, { sender: '', helo: 'MTA' })).toMatchObject({ result: 'none' })
  })
})

describe('the record that counts (RFC 7208, 3 and 4.4 to 4.5)', () => {
  it.each([
    [['v=spf1'], 'neutral'],
    [['V=sPf1 -ALL'], 'fail'],
    [['v=spf1   -all  '], 'fail'],
    [['v=spf10 -all'], 'none'],
    [['v=spf1-all'], 'none'],
    [[' v=spf1 -all'], 'none'],
    [['v=spf2.0/pra -all', 'other'], 'none'],
    [['v=spf10', 'v=spf1 -all', 'x'], 'fail'],
    [['v=spf1 -all', 'v=spf1 +all'], 'permerror'],
    [['v=spf1 -all', 'v=spf1 -all'], 'permerror'],
    [[['v=spf1 ip4:192.', '0.2.1 -all']], 'pass'],
    [[['v=spf1', '-all']], 'none'],
    [[['v=spf1 a:', Buffer.from([0xef, 0xbb, 0xbf]), 'host.example -all']], 'permerror'],
    [[['v=spf1 a:', Buffer.from([0x80]), 'host.example +all']], 'permerror'],
    [[['v=spf1 ', Buffer.from([0x80]), 'a:host.example -all']], 'permerror'],
    [[['v=spf1 a:host.example ', Buffer.from([0x96]), 'all']], 'permerror'],
    [[[Buffer.from([0x96, 0xff])], 'v=spf1 -all'], 'fail'],
    [['v=spf1 ip4:192.0.2.1\n-all'], 'permerror'],
    [['v=spf1 a:host.example\rptr -all'], 'permerror'],
    [['v=spf1 a:host.example\0 -all'], 'permerror'],
    [['v=spf1\t-all'], 'none'],
  ] as [Records[string], string][])('of %j gives %s', async (texts, result) => {
    expect(await check({ ...ADDRESSES, 'email.example.com TXT': texts })).toMatchObject({ result })
  })

  it.each(['SERVFAIL', 'TIMEOUT', 'REFUSED'] as const)('is not known after %s', async (failure) => {
    const found = await check({}, {}, { 'email.example.com TXT': failure })
    expect(found).toMatchObject({ result: 'temperror', reason: expect.stringContaining(failure) })
  })
})

describe('an SPF record with an error anywhere is a permerror (RFC 7208, 4.6, 5, 6 and 7.1)', () => {
  it.each([
    'ip4:192.0.2.1 -all moo',
    '+all nonsense:example.com',
    '-all.',
    '-all:example.com',
    '-all/8',
    'ptr/0 -all',
    'ptr: -all',
    'a: -all',
    'a:/24 -all',
    'a/33 -all',
    'a/24/64 -all',
    'a//129 -all',
    'a/032 -all',
    'a:192.0.2.1 -all',
    'a:example.123 -all',
    'a:museum -all',
    'a:museum. -all',
    'a:example.-com -all',
    'a:example.com- -all',
    'a:example.com:8080 -all',
    'mx: -all',
    'mx/33 -all',
    'mx//129 -all',
    'include -all',
    'include: -all',
    'include:host.example/24 -all',
    'exists -all',
    'exists: -all',
    'exists:host.example/24 -all',
    'ip4 -all',
    'ip4: -all',
    'ip4:192.0.2 -all',
    'ip4:192.0.2.1:25 -all',
    'ip4:192.0.2.1/33 -all',
    'ip4:192.0.2.1/032 -all',
    'ip4:192.0.2.1//32 -all',
    'ip4:2001:db8::1 -all',
    'ip6 -all',
    'ip6:192.0.2.1 -all',
    'ip6::2001::1 -all',
    'ip6:2001:db8::/129 -all',
    'ip6:2001:db8:://32 -all',
    'redirect:host.example',
    'redirect= ?all',
    'redirect=-all ?all',
    'redirect=a.example redirect=a.example -all',
    'exp= -all',
    'exp=-all',
    'exp=a.example -all exp=b.example',
    '=all -all',
    '1up=x -all',
    'moo/far=x -all',
    'moo:far=x -all',
    '-moo=x -all',
    '-all moo=%abc',
    '-all moo=%',
    '-all moo=%{x}',
    'a:%{i -all',
    'a:%(i).example -all',
    'a:%{x}.example -all',
    'a:%.example -all',
    'a:%{d0}.example -all',
    'a:%{d00r}.example -all',
    'a:%{rd}.example -all',
    'a:%{d-2}.example -all',
    'a:%{c}.example -all',
    'exists:%{R2r-}.example -all',
    'exp=%{t}.example -all',
    '-all moo=%{c}',
    'redirect=%{r}.example',
  ])('%j', async (terms) => {
    const found = await says(`v=spf1 ${terms}`, ADDRESSES)
    expect(found).toMatchObject({
      result: 'permerror',
      reason: expect.stringContaining('error at character'),
    })
  })
})

describe('the terms of an SPF record (RFC 7208, 4.6.2 and 5)', () => {
  const [four, six, mapped] = [
    { ip: '192.0.2.1' },
    { ip: '2001:db8::1' },
    { ip: '::ffff:192.0.2.1' },
  ]

  it.each([
    // The first match decides, and its qualifier is the result.
    ['+all', four, 'pass'],
    ['?all', four, 'neutral'],
    ['~all -all', four, 'softfail'],
    ['ip4:192.0.2.1', six, 'neutral'],
    ['-ip4:192.0.2.1 +all', four, 'fail'],
    ['moo.cow-far_out=man:dog/cat ip4:192.0.2.1 -all', four, 'pass'],
    ['include=host.example a=b ip4:192.0.2.1 -all', four, 'pass'],
    ['default=pass', four, 'neutral'],
    // ip4 and ip6.
    ['ip4:192.0.2.0/24 -all', four, 'pass'],
    ['ip4:203.0.113.1/0 -all', four, 'pass'],
    ['ip4:203.0.113.1/0 -all', six, 'fail'],
    ['ip4:192.0.2.1/32 -all', mapped, 'pass'],
    ['ip4:192.0.2.2/32 -all', four, 'fail'],
    ['ip6:2001:DB8::/33 -all', six, 'pass'],
    ['ip6:2001:db8:8000::/33 -all', six, 'fail'],
    ['ip6:::/0 -all', six, 'pass'],
    ['ip6:::/0 -all', four, 'fail'],
    ['ip6:::/0 -all', mapped, 'fail'],
    ['-ip4:192.0.2.1 ip6:::ffff:192.0.2.1 ?all', mapped, 'fail'],
    // a.
    ['a:host.example -all', four, 'pass'],
    ['a:HOST.example. -all', six, 'pass'],
    ['a:other.example -all', four, 'fail'],
    ['a:near.example -all', four, 'fail'],
    ['a:near.example/24 -all', four, 'pass'],
    ['a:near.example/24 -all', six, 'fail'],
    ['a:near.example//64 -all', six, 'pass'],
    ['a:near.example//64 -all', four, 'fail'],
    ['a:near.example/24//64 -all', mapped, 'pass'],
    ['a:six.example/0 -all', four, 'fail'],
    ['a:other.example/0 -all', four, 'pass'],
    ['a:other.example//0 -all', six, 'fail'],
    ['a:gone.example/0 -all', four, 'fail'],
    // mx: its hosts, and never the name itself.
    ['mx:mail.example -all', four, 'pass'],
    ['mx:mail.example -all', six, 'pass'],
    ['mx:far.example -all', four, 'fail'],
    ['mx:far.example/0 -all', four, 'pass'],
    ['mx:far.example//0 -all', six, 'fail'],
    ['mx:plain.example/0 -all', four, 'fail'],
    ['mx:null.example/0 -all', four, 'fail'],
    // exists: an A record, whatever the client.
    ['exists:other.example -all', four, 'pass'],
    ['exists:other.example -all', six, 'pass'],
    ['exists:six.example -all', six, 'fail'],
    // A name that cannot be one has no records.
    ['a:%{h} -all', { ...four, helo: 'x'.repeat(64) }, 'fail'],
    ['a:%{h} -all', { ...four, helo: 'a..b' }, 'fail'],
    ['mx:%{h} -all', { ...four, helo: '' }, 'fail'],
    ['include:%{h} -all', { ...four, helo: 'a..b' }, 'permerror'],
    ['redirect=%{h}', { ...four, helo: 'a..b' }, 'permerror'],
  ])('%j for %j give %s', async (terms, client, result) => {
    expect(await says(`v=spf1 ${terms}`, ADDRESSES, client)).toMatchObject({ result })
  })

  it('without a name mean the domain of the record', async () => {
    const records = {
      'email.example.com A': ['192.0.2.1'],
      'next.example A': ['192.0.2.2'],
      'next.example TXT': ['v=spf1 a -all'],
    }
    expect(await says('v=spf1 a -all', records)).toMatchObject({ result: 'pass' })
    expect(await says('v=spf1 redirect=next.example', records)).toMatchObject({ result: 'fail' })
    expect(await says('v=spf1 redirect=next.example', records, { ip: '192.0.2.2' })).toMatchObject({
      result: 'pass',
    })
  })

  it('name the one that decided, in its record', async () => {
    const records = { ...ADDRESSES, 'next.example TXT': ['v=spf1 mx:mail.example -all'] }
    expect(await says('v=spf1 ip6:::1 redirect=next.example', records)).toEqual({
      result: 'pass',
      matched: { domain: 'next.example', term: 'mx:mail.example' },
      reason: null,
      explanation: null,
      lookups: 2,
      voidLookups: 0,
    })
    expect(await says('v=spf1 ip6:::1')).toMatchObject({
      matched: null,
      reason: expect.stringMatching(/no mechanism/),
    })
  })

  it.each([
    'a:host.example',
    'mx:mail.example',
    'exists:host.example',
    'include:host.example',
    'redirect=host.example',
  ])('%s is a temperror when the name servers do not answer', async (term) => {
    const failures: Record<string, DnsFailure> = { 'host.example *': 'SERVFAIL' }
    const records = { ...ADDRESSES, 'email.example.com TXT': [`v=spf1 ${term}`] }
    expect(await check(records, {}, failures)).toMatchObject({ result: 'temperror' })
  })
})

describe('include and redirect (RFC 7208, 5.2 and 6.1)', () => {
  const records: Records = {
    'pass.example TXT': ['v=spf1 +all'],
    'fail.example TXT': ['v=spf1 -all exp=why.example'],
    'soft.example TXT': ['v=spf1 ~all'],
    'neutral.example TXT': ['v=spf1 ?all'],
    'broken.example TXT': ['v=spf1 include +all'],
    'text.example TXT': ['not SPF'],
    'why.example TXT': ['not this'],
  }
  it.each([
    ['include:pass.example -all', 'pass'],
    ['~include:pass.example -all', 'softfail'],
    ['include:fail.example ~all', 'softfail'],
    ['include:soft.example +all', 'pass'],
    ['include:neutral.example -all', 'fail'],
    ['include:broken.example +all', 'permerror'],
    ['include:text.example +all', 'permerror'],
    ['include:gone.example +all', 'permerror'],
    ['redirect=soft.example', 'softfail'],
    ['redirect=fail.example ~all', 'softfail'],
    ['redirect=neutral.example ip4:192.0.2.1', 'pass'],
    ['redirect=text.example', 'permerror'],
    ['redirect=gone.example', 'permerror'],
    ['redirect=broken.example', 'permerror'],
  ])('%j gives %s', async (terms, result) => {
    expect(await says(`v=spf1 ${terms}`, records)).toMatchObject({ result })
  })
})

describe('ptr (RFC 7208, 5.5)', () => {
  const REVERSE = '1.2.0.192.in-addr.arpa PTR'
  const SIX = '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa PTR'
  const hosts: Records = {
    'a.good.example A': ['192.0.2.1'],
    'a.good.example AAAA': ['2001:db8::1'],
  }

  it.each([
    ['ptr:good.example -all', { [REVERSE]: ['A.Good.example.'] }, 'pass'],
    ['ptr:a.good.example -all', { [REVERSE]: ['a.good.example'] }, 'pass'],
    ['ptr:ood.example -all', { [REVERSE]: ['a.good.example'] }, 'fail'],
    ['ptr:good.example -all', { [REVERSE]: ['b.good.example'] }, 'fail'],
    ['ptr:good.example -all', {}, 'fail'],
    [
      'ptr -all',
      { [REVERSE]: ['x.email.example.com'], 'x.email.example.com A': ['192.0.2.1'] },
      'pass',
    ],
    [
      'ptr -all',
      { [REVERSE]: ['x.email.example.com'], 'x.email.example.com A': ['192.0.2.2'] },
      'fail',
    ],
    [
      'ptr:good.example -all',
      {
        [REVERSE]: [...Array.from({ length: 9 }, (_, i) => `n${i}.bad.example`), 'a.good.example'],
      },
      'pass',
    ],
    [
      'ptr:good.example -all',
      {
        [REVERSE]: [...Array.from({ length: 10 }, (_, i) => `n${i}.bad.example`), 'a.good.example'],
      },
      'fail',
    ],
  ] as [string, Records, string][])('%j with %j gives %s', async (terms, records, result) => {
    expect(await says(`v=spf1 ${terms}`, { ...hosts, ...records })).toMatchObject({ result })
  })

  it('works for IPv6', async () => {
    const found = await says(
      'v=spf1 ptr:good.example -all',
      { ...hosts, [SIX]: ['a.good.example'] },
      { ip: '2001:db8::1' },
    )
    expect(found).toMatchObject({ result: 'pass' })
  })

  it.each(['1.2.0.192.in-addr.arpa *', 'lame.example *'])(
    'skips names that fail (%s)',
    async (failing) => {
      const records = {
        ...hosts,
        'email.example.com TXT': ['v=spf1 ptr:good.example ?all'],
        [REVERSE]: ['lame.example', 'a.good.example'],
      }
      const { result } = await check(records, {}, { [failing]: 'SERVFAIL' })
      expect(result).toBe(failing.startsWith('lame') ? 'pass' : 'neutral')
    },
  )
})

describe('limits (RFC 7208, 4.6.4)', () => {
  const times = (count: number, term: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => term(index)).join(' ')
  const asked = { 'other.example A': ['198.51.100.9'], 'other.example MX': ['10 other.example'] }

  it.each([
    [10, 'pass'],
    [11, 'permerror'],
  ])('of %i terms that ask, whatever they are: %s', async (count, result) => {
    const kinds = [
      'a:other.example',
      'mx:other.example',
      'include:none.example',
      'ptr:other.example',
    ]
    const reverse = { '1.2.0.192.in-addr.arpa PTR': ['elsewhere.example'] }
    const records = { ...asked, ...reverse, 'none.example TXT': ['v=spf1 -all'] }
    const terms = times(count, (index) => kinds[index % kinds.length] ?? '')
    expect(await says(`v=spf1 ${terms} ip4:192.0.2.1 -all`, records)).toMatchObject({ result })
  })

  it('of terms count through includes and redirects', async () => {
    const records = {
      ...asked,
      'inc.example TXT': [`v=spf1 ${times(8, () => 'a:other.example')} ?all`],
    }
    expect(
      await says(
        'v=spf1 a:other.example include:inc.example ip4:192.0.2.1 a:other.example',
        records,
      ),
    ).toMatchObject({ result: 'pass', lookups: 10 })
    expect(
      await says(
        'v=spf1 a:other.example include:inc.example a:other.example ip4:192.0.2.1',
        records,
      ),
    ).toMatchObject({ result: 'permerror' })
    expect(
      await says('v=spf1 a:other.example include:inc.example redirect=inc.example', records),
    ).toMatchObject({
      result: 'permerror',
    })
  })

  it('end loops', async () => {
    expect(await says('v=spf1 redirect=email.example.com')).toMatchObject({ result: 'permerror' })
    expect(await says('v=spf1 include:email.example.com')).toMatchObject({ result: 'permerror' })
  })

  it.each([
    [10, 'pass'],
    [11, 'permerror'],
  ])('of %i mail servers: %s', async (count, result) => {
    const records: Records = {
      'many.example MX': Array.from({ length: count }, (_, index) => `${index} mx${index}.example`),
      'mx9.example A': ['192.0.2.1'],
    }
    expect(await says('v=spf1 mx:many.example -all', records)).toMatchObject({ result })
  })

  it('do not hold for addresses of one name', async () => {
    const records = {
      'wide.example A': Array.from({ length: 30 }, (_, index) => `192.0.2.${30 - index}`),
    }
    expect(await says('v=spf1 a:wide.example -all', records)).toMatchObject({ result: 'pass' })
  })

  it.each([
    ['a:v1.example mx:v2.example ?all', 'neutral', 2],
    ['a:v1.example mx:v2.example exists:v3.example ?all', 'permerror', 3],
    ['exists:v1.example exists:v2.example exists:v3.example +all', 'permerror', 3],
    ['a:v1.example a:v2.example ip4:192.0.2.1 a:v3.example -all', 'pass', 2],
    ['a:six.example a:six.example a:six.example +all', 'permerror', 3],
  ])('of look-ups that find nothing: %j gives %s', async (terms, result, voidLookups) => {
    expect(await says(`v=spf1 ${terms}`, { 'six.example AAAA': ['2001:db8::1'] })).toMatchObject({
      result,
      voidLookups,
    })
  })

  it('do not count the text of an explanation', async () => {
    const found = await says('v=spf1 a:v1.example a:v2.example exp=v3.example -all')
    expect(found).toMatchObject({ result: 'fail', explanation: null, lookups: 2, voidLookups: 2 })
  })

  it('end as temperror when the time is over', async () => {
    const questions = createDnsQueries(
      mapResolver({ 'email.example.com TXT': ['v=spf1 -all'] }),
      AbortSignal.abort(),
    )
    expect(await evaluateSpf(CLIENT, questions)).toMatchObject({
      result: 'temperror',
      reason: expect.stringMatching(/TIMEOUT/),
    })
  })
})

describe('macros (RFC 7208, 7)', () => {
  /** The client of the examples in 7.4. */
  const client = { ip: '192.0.2.3', helo: 'mta.example.net' }
  const expand = async (macro: string, more: Partial<SpfClient> = {}, records: Records = {}) => {
    const texts = { 'why.example TXT': [macro], ...records }
    const { explanation } = await says('v=spf1 -all exp=why.example', texts, { ...client, ...more })
    return explanation
  }

  it.each([
    ['%{s}', 'strong-bad@email.example.com'],
    ['%{o}', 'email.example.com'],
    ['%{d}', 'email.example.com'],
    ['%{d4}', 'email.example.com'],
    ['%{d3}', 'email.example.com'],
    ['%{d2}', 'example.com'],
    ['%{d1}', 'com'],
    ['%{dr}', 'com.example.email'],
    ['%{d2r}', 'example.email'],
    ['%{l}', 'strong-bad'],
    ['%{l-}', 'strong.bad'],
    ['%{lr}', 'strong-bad'],
    ['%{lr-}', 'bad.strong'],
    ['%{l1r-}', 'strong'],
    ['%{ir}.%{v}._spf.%{d2}', '3.2.0.192.in-addr._spf.example.com'],
    ['%{lr-}.lp.%{ir}.%{v}._spf.%{d2}', 'bad.strong.lp.3.2.0.192.in-addr._spf.example.com'],
    ['%{d2}.trusted-domains.example.net', 'example.com.trusted-domains.example.net'],
    // Literals, the letters of explanations, and unknown values.
    ['100%% of%_it%-is %{h}.', '100% of it%20is mta.example.net.'],
    ['%{c} at %{r}, %{p}', '192.0.2.3 at mx.example.org, unknown'],
    ['%{d128}', 'email.example.com'],
    ['%{S}', 'strong-bad%40email.example.com'],
    ['%{H2R}', 'example.mta'],
  ])('%j is %j', async (macro, text) => {
    expect(await expand(macro, { receiver: 'mx.example.org' })).toBe(text)
  })

  it('of IPv6 are nibbles, or the short form', async () => {
    const ip = '2001:DB8::CB01'
    expect(await expand('%{ir}.%{v}._spf.%{d2}', { ip })).toBe(
      '1.0.b.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6._spf.example.com',
    )
    expect(await expand('%{c}', { ip })).toBe('2001:db8::cb01')
  })

  it('split at each delimiter', async () => {
    expect(await expand('%{l2r+-=}', { sender: 'a-b+c=d@email.example.com' })).toBe('b.a')
    expect(await expand('%{l,/_}', { sender: 'a,b/c_d@email.example.com' })).toBe('a.b.c.d')
  })

  it('escape all but the unreserved characters when written in capitals', async () => {
    const sender = "~jack&jill=up-a_b3.c!'()*ü@email.example.com"
    expect(await expand('%{L}', { sender })).toBe('~jack%26jill%3Dup-a_b3.c%21%27%28%29%2A%C3%BC')
  })

  it('know the name of the client, best one of the domain', async () => {
    const names = {
      '3.2.0.192.in-addr.arpa PTR': ['liar.example', 'x.example.org', 'y.email.example.com'],
    }
    const hosts = {
      'x.example.org A': ['192.0.2.3'],
      'y.email.example.com A': ['192.0.2.3'],
      'liar.example A': ['192.0.2.4'],
    }
    expect(await expand('%{p}', {}, { ...names, ...hosts })).toBe('y.email.example.com')
    expect(await expand('%{p}', {}, { ...names, 'x.example.org A': ['192.0.2.3'] })).toBe(
      'x.example.org',
    )
  })

  it('contain the time', async () => {
    const seconds = Number(await expand('%{t}'))
    expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(60)
  })

  it('expand to query names', async () => {
    const records = { '3.2.0.192.strong.user.example.com A': ['127.0.0.2'] }
    expect(
      await says('v=spf1 exists:%{ir}.%{l1r-}.user.%{d2} -all', records, client),
    ).toMatchObject({ result: 'pass' })
  })

  it('lose labels on the left where the name gets too long', async () => {
    const sender = `x@${'abcdefghi.'.repeat(6)}example.com`
    const domain = sender.slice(2)
    const long = `${'%{o}.'.repeat(4)}end.example`
    const records = { [`${domain} TXT`]: [`v=spf1 -all exp=${long}`] }
    const whole = `${`${domain}.`.repeat(4)}end.example`
    let cut = whole
    while (cut.length > 253) cut = cut.slice(cut.indexOf('.') + 1)
    expect(whole.length).toBeGreaterThan(253)
    expect(await check({ ...records, [`${cut} TXT`]: ['found'] }, { sender })).toMatchObject({
      explanation: 'found',
    })
  })
})

describe('an explanation (RFC 7208, 6.2)', () => {
  it.each([
    [['one', 'two']],
    [[]],
    [['The %{x}-files']],
    [['100%']],
    [[[Buffer.from([0xef, 0xbb, 0xbf]), 'text']]],
  ] as [Records[string]][])('of %j is as none', async (texts) => {
    expect(await says('v=spf1 -all exp=why.example', { 'why.example TXT': texts })).toMatchObject({
      result: 'fail',
      explanation: null,
    })
  })

  it('is treated as missing when it could not be looked up', async () => {
    const found = await check(
      { 'email.example.com TXT': ['v=spf1 -all exp=why.example'] },
      {},
      { 'why.example TXT': 'TIMEOUT' },
    )
    expect(found).toMatchObject({ result: 'fail', explanation: null })
  })

  it('comes from the record that decided: after a redirect, not after an include', async () => {
    const records = {
      'theirs.example TXT': ['v=spf1 -all exp=their.why.example'],
      'their.why.example TXT': ['theirs'],
      'why.example TXT': ['ours'],
    }
    expect(await says('v=spf1 redirect=theirs.example exp=why.example', records)).toMatchObject({
      explanation: 'theirs',
    })
    expect(await says('v=spf1 include:theirs.example -all exp=why.example', records)).toMatchObject(
      {
        explanation: 'ours',
      },
    )
    expect(await says('v=spf1 ~all exp=why.example', records)).toMatchObject({
      result: 'softfail',
      explanation: null,
    })
  })
})

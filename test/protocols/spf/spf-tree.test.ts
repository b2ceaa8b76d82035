import { describe, expect, it } from 'vitest'
import type { DnsFailure, RecordType } from '../../../src/net/dns.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { lastRecord, nodesOf, walkSpf } from '../../../src/protocols/spf/spf-tree.ts'
import { mapResolver } from '../../resolver.ts'
import type { Records } from '../../servers/dns-records.ts'

const walk = (records: Records, failures?: Record<string, DnsFailure>) =>
  walkSpf(
    'example.com',
    createDnsQueries(mapResolver(records, failures), new AbortController().signal),
  )

const problems = ({ root }: Awaited<ReturnType<typeof walk>>) =>
  nodesOf(root).flatMap(({ via, problem }) => (problem ? [[via, problem]] : []))

describe('the lookups of an SPF record', () => {
  it.each([
    ['v=spf1 ip4:192.0.2.1 -all', 0],
    ['v=spf1 a -all', 1],
    ['v=spf1 a mx ptr exists:%{i}.example.com -all', 4],
    ['v=spf1 a:%{d} mx:%{o} include:nested-%{d} ~all', 6],
    ['v=spf1 a:%{i}.%{d} mx:%{h} include:%{l}.example.net ~all', 3],
    ['v=spf1 redirect=plain.example', 1],
    ['v=spf1 redirect=plain.example -all', 0],
    ['v=spf1 -all a mx', 0],
    ['v=spf1 exp=e.example -all', 0],
    ['v=spf1 include:nested.example ~all', 4],
    ['v=spf1 include:nested.example include:nested.example ~all', 8],
  ])('of %j are %i', async (text, lookups) => {
    const tree = await walk({
      'example.com TXT': ['other text', text],
      'example.com A': ['192.0.2.1'],
      'example.com MX': ['10 mail.example.com'],
      'plain.example TXT': ['v=spf1 ip4:192.0.2.1 -all'],
      'nested-example.com TXT': ['v=spf1 a:%{o} mx:%{o} include:plain.example ~all'],
      'nested.example TXT': ['v=spf1 include:plain.example a:example.com mx:example.com ~all'],
    })
    expect(tree).toMatchObject({ lookups, voidLookups: 0, truncated: false })
  })

  it('counts void lookups of both address families', async () => {
    const tree = await walk({
      'example.com TXT': [
        'v=spf1 a a:gone.example mx:nomx.example a:six.example include:nothing.example ~all',
      ],
      'nomx.example A': ['192.0.2.1'],
      'six.example AAAA': ['2001:db8::1'],
    })
    expect(tree.voidLookups).toBe(4)
    expect(tree.root.voids).toEqual(['example.com', 'gone.example', 'nomx.example'])
  })

  it('counts an exists that finds nothing, unless its name depends on the mail', async () => {
    const tree = await walk({
      'example.com TXT': [
        'v=spf1 exists:gone.example exists:%{i}.gone.example exists:six.example exists:a.example ~all',
      ],
      'six.example AAAA': ['2001:db8::1'],
      'a.example A': ['127.0.0.2'],
    })
    expect(tree).toMatchObject({
      lookups: 4,
      voidLookups: 2,
      root: { voids: ['gone.example', 'six.example'] },
    })
  })

  it('do not have the text of an explanation among them', async () => {
    const tree = await walk({ 'example.com TXT': ['v=spf1 exp=gone.example -all'] })
    expect(tree).toMatchObject({
      lookups: 0,
      voidLookups: 0,
      root: { explanation: { name: 'gone.example', texts: [] } },
    })
  })

  it('does not count a failed lookup as void', async () => {
    const tree = await walk(
      { 'example.com TXT': ['v=spf1 a:lame.example -all'] },
      { 'lame.example *': 'SERVFAIL' },
    )
    expect(tree.voidLookups).toBe(0)
  })

  it('finds names with more than ten mail servers', async () => {
    const servers = Array.from({ length: 11 }, (_, index) => `10 mx${index}.example.com`)
    const tree = await walk({ 'example.com TXT': ['v=spf1 mx -all'], 'example.com MX': servers })
    expect(tree.root.crowded).toEqual(['example.com'])
  })

  it('follows CNAMEs and accepts names in any case, with a final dot', async () => {
    const tree = await walk({
      'example.com TXT': ['v=spf1 include:Alias.Example. -all'],
      'alias.example CNAME': ['real.example'],
      'real.example TXT': ['v=spf1 a:example.com -all'],
      'example.com A': ['192.0.2.1'],
    })
    expect(tree.lookups).toBe(2)
  })
})

describe('the tree of an SPF record', () => {
  it('is the record, its includes and its redirect, in order', async () => {
    const { root } = await walk({
      'example.com TXT': ['v=spf1 include:a.example include:b.example redirect=c.example'],
      'a.example TXT': ['v=spf1 include:d.example ~all'],
      'b.example TXT': ['v=spf1 ip4:192.0.2.1 ~all'],
      'c.example TXT': ['v=spf1 redirect=e.example'],
      'd.example TXT': ['v=spf1 ip4:192.0.2.2 ~all'],
      'e.example TXT': ['v=spf1 -all'],
    })
    expect(nodesOf(root).map(({ domain, depth }) => `${depth} ${domain}`)).toEqual([
      '0 example.com',
      '1 a.example',
      '2 d.example',
      '1 b.example',
      '1 c.example',
      '2 e.example',
    ])
    expect(lastRecord(root).domain).toBe('e.example')
  })

  it('reports the error of a branch', async () => {
    const tree = await walk({
      'example.com TXT': [
        'v=spf1 include:none.example include:two.example include:loop.example include:%{i}.example -all',
      ],
      'none.example TXT': ['no SPF here'],
      'two.example TXT': ['v=spf1 -all', 'v=spf1 ~all'],
      'loop.example TXT': ['v=spf1 include:loop2.example -all'],
      'loop2.example TXT': ['v=spf1 include:LOOP.example include:example.com -all'],
    })
    expect(problems(tree)).toEqual([
      ['include:none.example', 'missing'],
      ['include:two.example', 'several'],
      ['include:LOOP.example', 'loop'],
      ['include:example.com', 'loop'],
      ['include:%{i}.example', 'macro'],
    ])
  })

  it('follows a recursive include only once', async () => {
    const tree = await walk({ 'example.com TXT': ['v=spf1 include:example.com -all'] })
    expect(tree.lookups).toBe(1)
    expect(problems(tree)).toEqual([['include:example.com', 'loop']])
  })

  it('does not treat a failed query as a missing record', async () => {
    const tree = await walk(
      { 'example.com TXT': ['v=spf1 include:lame.example -all'] },
      { 'lame.example TXT': 'SERVFAIL' },
    )
    expect(tree.root.children).toMatchObject([{ problem: null, error: 'SERVFAIL', record: null }])
  })

  it('is truncated where it grows without end, with a note', async () => {
    const resolver = mapResolver({ 'example.com TXT': [includes('x')] })
    const endless = {
      ...resolver,
      query: (name: string, type: RecordType) =>
        mapResolver({ [`${name} TXT`]: [includes(`x${name.length}`)] }).query(name, type),
    }
    const started = performance.now()
    const tree = await walkSpf(
      'example.com',
      createDnsQueries(endless, new AbortController().signal),
    )
    expect(tree.truncated).toBe(true)
    expect(tree.lookups).toBeGreaterThan(10)
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  it('is unknown, not missing, when the deadline passed before its query', async () => {
    const tree = await walkSpf('example.com', createDnsQueries(mapResolver(), AbortSignal.abort()))
    expect(tree.root).toMatchObject({ problem: null, record: null, error: 'TIMEOUT' })
  })

  it('is truncated at the deadline, with a note', async () => {
    const over = new AbortController()
    const resolver = mapResolver({ 'example.com TXT': ['v=spf1 include:late.example -all'] })
    const questions = createDnsQueries(resolver, over.signal)
    await questions.lookUpTxt('example.com')
    over.abort()
    const tree = await walkSpf('example.com', questions)
    expect(tree).toMatchObject({
      lookups: 1,
      truncated: true,
      root: { children: [{ problem: 'untried' }] },
    })
  })

  it('sends at most eighty queries, however long the record', async () => {
    const resolver = mapResolver({ 'example.com TXT': [`v=spf1 ${hosts(3000)} -all`] })
    const tree = await walkSpf(
      'example.com',
      createDnsQueries(resolver, new AbortController().signal),
    )
    expect(tree.lookups).toBe(3000)
    expect(resolver.asked.length).toBeLessThan(170)
  })
})

/** A record that includes ten other records with new names. */
function includes(seed: string): string {
  return `v=spf1 ${Array.from({ length: 10 }, (_, index) => `include:${seed}-${index}.${'y'.repeat(index + 1)}.example`).join(' ')} -all`
}

function hosts(count: number): string {
  return Array.from({ length: count }, (_, index) => `a:h${index}.example`).join(' ')
}

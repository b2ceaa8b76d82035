import { describe, expect, it } from 'vitest'
import type { DnsFailure, RecordType } from '../../../src/net/dns.ts'
import { COMMON_SELECTORS, probeSelectors } from '../../../src/protocols/dkim/probe-selectors.ts'
import {
  KNOWN_SELECTORS,
  providersOf,
  selectorsToTry,
} from '../../../src/protocols/dkim/dkim-selectors.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { mapResolver } from '../../resolver.ts'
import type { Records } from '../../servers/dns-records.ts'

const KEY = 'v=DKIM1; p='
const OTHER = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='

async function probe(
  records: Records,
  {
    asked = [],
    failures,
    signal,
  }: { asked?: string[]; failures?: Record<string, DnsFailure>; signal?: AbortSignal } = {},
) {
  const resolver = mapResolver(records, failures)
  const questions = createDnsQueries(resolver, signal ?? new AbortController().signal)
  const result = await probeSelectors('example.com', { asked, providers: [] }, questions)
  const found = result.findings
    .filter(({ key, fromWildcard }) => key && !fromWildcard)
    .map(({ selector }) => selector)
  return { ...result, found, asked: resolver.asked }
}

describe('the known selectors', () => {
  it('are tried after the asked-for ones and the providers’, each once', () => {
    const providers = providersOf(['example-com.mail.protection.outlook.com'], ['sendgrid.net'])
    const order = selectorsToTry(['K2', 'mine'], providers)
    expect(order.slice(0, 6)).toEqual(['K2', 'mine', 'selector1', 'selector2', 's1', 's2'])
    expect(new Set(order.map((selector) => selector.toLowerCase())).size).toBe(order.length)
    expect(order).toHaveLength(KNOWN_SELECTORS.length + 1)
  })

  it('are more than 150, and names', () => {
    expect(KNOWN_SELECTORS.length).toBeGreaterThan(150)
    for (const { selector, provider } of KNOWN_SELECTORS) {
      expect(selector).toMatch(/^[\w-]{1,63}$/)
      expect(provider).not.toBe('')
    }
  })

  it('do not mistake one provider’s name inside another’s', () => {
    expect(providersOf(['mx.notgoogle.com'], ['my_spf.google.com.example'])).toEqual([])
  })
})

describe('trying selectors', () => {
  it('finds published keys, also behind a CNAME', async () => {
    const { found, findings } = await probe({
      'selector1._domainkey.example.com CNAME': ['selector1.example.net'],
      'selector1.example.net TXT': [OTHER],
      'mail._domainkey.example.com TXT': [[OTHER.slice(0, 20), OTHER.slice(20)]],
      'k1._domainkey.example.com TXT': ['not a key'],
    })
    expect(found).toEqual(['selector1', 'mail'])
    expect(findings.find(({ selector }) => selector === 'selector1')).toMatchObject({
      alias: 'selector1.example.net',
      provider: 'Microsoft 365',
      key: { text: OTHER },
    })
    expect(findings.every(({ tried }) => tried)).toBe(true)
  })

  it('ignores a wildcard, but not keys that differ from it', async () => {
    const { found, wildcard, findings } = await probe(
      { '*._domainkey.example.com TXT': [KEY], 'k1._domainkey.example.com TXT': [OTHER] },
      { asked: ['mine'] },
    )
    expect(wildcard?.text).toBe(KEY)
    expect(found).toEqual(['k1'])
    expect(findings.find(({ selector }) => selector === 'mine')).toMatchObject({
      fromWildcard: true,
      key: { revoked: true },
    })
  })

  it('tries only ten and the asked-for ones when nothing is below _domainkey, for some servers are wrong', async () => {
    const { findings, nothingBelow, asked } = await probe(
      { 'example.com A': ['192.0.2.1'] },
      { asked: ['mine', 'google'] },
    )
    expect(nothingBelow).toBe(true)
    expect(findings.map(({ selector }) => selector)).toEqual([
      'mine',
      'google',
      ...COMMON_SELECTORS.slice(1),
    ])
    expect(asked).toHaveLength(2 + 11)
  })

  it('finds a key below a name that a wrong server denies', async () => {
    const resolver = mapResolver({ 'google._domainkey.example.com TXT': [OTHER] })
    const lying = {
      ...resolver,
      query: (name: string, type: RecordType, signal?: AbortSignal) =>
        name === '_domainkey.example.com'
          ? mapResolver().query(name, type, signal)
          : resolver.query(name, type, signal),
    }
    const questions = createDnsQueries(lying, new AbortController().signal)
    const { findings } = await probeSelectors(
      'example.com',
      { asked: [], providers: [] },
      questions,
    )
    expect(findings.find(({ key }) => key)?.selector).toBe('google')
  })

  it('does not report a selector as missing when its query failed', async () => {
    const { findings } = await probe(
      { 'k1._domainkey.example.com TXT': [OTHER] },
      { failures: { 'google._domainkey.example.com TXT': 'SERVFAIL' } },
    )
    expect(findings.find(({ selector }) => selector === 'google')).toMatchObject({
      key: null,
      tried: true,
      error: 'SERVFAIL',
    })
  })

  it('stops asking servers that answer nothing', async () => {
    const { findings, asked } = await probe(
      {},
      {
        failures: {
          '*._domainkey.example.com *': 'TIMEOUT',
          '_domainkey.example.com *': 'TIMEOUT',
        },
      },
    )
    expect(asked.length).toBeLessThan(40)
    expect(findings.filter(({ tried }) => !tried).length).toBeGreaterThan(100)
  })

  it('stops when the time is over', async () => {
    const { findings, asked } = await probe({}, { signal: AbortSignal.abort() })
    expect(asked).toHaveLength(2)
    expect(findings.some(({ tried }) => tried)).toBe(false)
  })

  it('reports several keys at one name', async () => {
    const { findings } = await probe({ 'k1._domainkey.example.com TXT': [KEY, OTHER, 'note'] })
    expect(findings.find(({ selector }) => selector === 'k1')?.texts).toEqual([KEY, OTHER])
  })
})

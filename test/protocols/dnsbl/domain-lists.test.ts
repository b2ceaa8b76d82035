import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createDomainLists,
  DOMAIN_LISTS,
  domainQueryName,
  interpretDomainAnswer,
  type DomainList,
} from '../../../src/protocols/dnsbl/domain-lists.ts'
import { createResolver } from '../../../src/net/dns.ts'
import { startRbldnsd, type Rbldnsd, type Zone } from '../../servers/rbldnsd.ts'
import { answered, failed, nxdomain } from './dnsbl-answers.ts'

const listNamed = (zone: string) => DOMAIN_LISTS.find((list) => list.zone === zone) as DomainList
const dbl = listNamed('dbl.spamhaus.org')
const surbl = listNamed('multi.surbl.org')
const uribl = listNamed('multi.uribl.com')

const PROVEN: Record<string, Zone> = {
  'dbl.spamhaus.org': {
    domains: { 'dbltest.com': '127.0.1.2', 'bad.example': '127.0.1.4 phishing' },
  },
  'multi.surbl.org': { domains: { 'test.surbl.org': '127.0.0.254' } },
  'multi.uribl.com': { domains: { 'test.uribl.com': '127.0.0.14', 'bad.example': '127.0.0.2' } },
}

let lists: Rbldnsd
beforeAll(async () => {
  lists = await startRbldnsd(PROVEN)
})
afterAll(() => lists.stop())

function check(
  domain: string,
  registeredDomain = domain,
  server: { address: string; port: number } = lists,
) {
  const resolver = createResolver({ servers: [server], timeoutMs: 300 })
  const domainLists = createDomainLists({ resolver, lists: [], keyOf: () => undefined })
  return domainLists.check({ domain, registeredDomain }, AbortSignal.timeout(5_000))
}
const statuses = (found: Awaited<ReturnType<typeof check>>) =>
  Object.fromEntries(found.map(({ list, status }) => [list.zone, status]))

describe('the domain blocklists', () => {
  it('list a domain with the documented meaning, and others are clean', async () => {
    const found = await check('www.bad.example', 'bad.example')
    expect(statuses(found)).toEqual({
      'dbl.spamhaus.org': 'listed',
      'multi.surbl.org': 'clean',
      'multi.uribl.com': 'listed',
    })
    expect(found[0]).toMatchObject({
      domain: 'www.bad.example',
      codes: ['127.0.1.4'],
      meanings: ['phishing domain'],
    })
    expect(found[2]?.domain).toBe('bad.example')
  })

  it('are unknown, never clean, without their test entry', async () => {
    const mute = await startRbldnsd({
      'dbl.spamhaus.org': {},
      'multi.surbl.org': {},
      'multi.uribl.com': {},
    })
    const found = await check('good.example', 'good.example', mute)
    await mute.stop()
    expect(Object.values(statuses(found))).toEqual(['unknown', 'unknown', 'unknown'])
    expect(found[0]?.detail).toMatch(/test entry/)
  })

  it('are unknown, never listed, when they list every domain', async () => {
    const wildcard = await startRbldnsd({
      'dbl.spamhaus.org': { behaviour: 'wildcard' },
      'multi.surbl.org': { behaviour: 'silent' },
      'multi.uribl.com': {
        domains: Object.fromEntries(
          ['com', 'example', 'invalid'].map((name) => [name, '127.0.0.2']),
        ),
      },
    })
    const found = await check('good.example', 'good.example', wildcard)
    await wildcard.stop()
    expect(statuses(found)).toMatchObject({
      'dbl.spamhaus.org': 'unknown',
      'multi.uribl.com': 'unknown',
    })
    expect(found[2]?.detail).toBe('Lists every domain.')
  })

  it('are unknown, never clean, when they refuse or do not answer', async () => {
    const refusing = await startRbldnsd({
      'dbl.spamhaus.org': { domains: { example: '127.255.255.254', com: '127.255.255.254' } },
      'multi.surbl.org': { behaviour: 'silent' },
      'multi.uribl.com': { domains: { example: '127.0.0.1', com: '127.0.0.1' } },
    })
    const found = await check('good.example', 'good.example', refusing)
    await refusing.stop()
    expect(Object.values(statuses(found))).toEqual(['unknown', 'unknown', 'unknown'])
    expect(found.map(({ detail }) => detail)).toMatchObject([
      expect.stringMatching(/public or open resolver/),
      expect.stringMatching(/could not be queried/),
      expect.stringMatching(/Refuses/),
    ])
  })
})

describe('the answer of a domain blocklist', () => {
  it('is a listing only with a documented code', () => {
    expect(interpretDomainAnswer(answered('127.0.1.2'), dbl).status).toBe('listed')
    expect(interpretDomainAnswer(answered('127.0.1.255'), dbl).status).toBe('unknown')
    expect(interpretDomainAnswer(answered('127.0.1.99'), dbl).status).toBe('unknown')
    expect(interpretDomainAnswer(answered('203.0.113.1'), dbl).status).toBe('unknown')
    expect(interpretDomainAnswer(nxdomain, dbl).status).toBe('clean')
    expect(interpretDomainAnswer(failed('SERVFAIL'), dbl).status).toBe('unknown')
  })

  it('names each bit of a bitmask', () => {
    expect(interpretDomainAnswer(answered('127.0.0.80'), surbl).meanings).toEqual([
      'malware',
      'abuse',
    ])
    expect(interpretDomainAnswer(answered('127.0.0.1'), surbl).status).toBe('unknown')
    expect(interpretDomainAnswer(answered('203.0.113.80'), uribl).status).toBe('unknown')
    expect(interpretDomainAnswer(answered('127.0.0.1'), uribl).detail).toMatch(/public resolver/)
  })

  it('is asked for with the account key where there is one', () => {
    expect(domainQueryName('a.example', dbl)).toBe('a.example.dbl.spamhaus.org.')
    expect(domainQueryName('a.example', dbl, 'secret')).toBe(
      'a.example.secret.dbl.dq.spamhaus.net.',
    )
    expect(domainQueryName('a.example', uribl, 'secret')).toBe('a.example.multi.uribl.com.')
  })
})

import { describe, expect, it } from 'vitest'
import { addressesOfNetwork } from '../../src/domains/domain-senders.ts'
import { startSlowServer } from '../servers/rbldnsd.ts'
import { checkWith, lineOf, startAllLists } from './check-with.ts'

const records = (spf: string, more: Record<string, string[]> = {}) => ({
  'example.com NS': ['ns1.example.com'],
  'example.com MX': ['10 mail.example.com'],
  'mail.example.com A': ['127.0.0.1'],
  'example.com TXT': [spf],
  ...more,
})

describe('the addresses that are looked up on blocklists', () => {
  it('finds the last address of a small network, and counts the addresses of a large one', async () => {
    const lists = await startAllLists({
      'zen.spamhaus.org': { listed: { '9.9.9.31': '127.0.0.2' } },
    })
    try {
      const spf =
        'v=spf1 mx ip4:8.8.4.4 ip6:2001:4860:4860::8844 ip4:9.9.9.16/28 ip6:2620:fe::10/126 ip4:9.10.0.0/16 -all'
      const report = await checkWith({ records: records(spf), lists })
      const line = lineOf(report, 'blocklists')
      expect(line.state).toBe('bad')
      expect(line.summary).toBe('1 of 22 addresses is listed: Spamhaus ZEN.')
      expect(line.evidence.map(({ label }) => label)).toEqual([
        '8.8.4.4',
        '2001:4860:4860::8844',
        ...Array.from({ length: 16 }, (_, index) => `9.9.9.${16 + index}`),
        ...['10', '11', '12', '13'].map((last) => `2620:fe::${last}`),
      ])
      expect(line.details).toContain('65,536 more addresses not checked.')
    } finally {
      await lists.stop()
    }
  })

  it('looks up 64 addresses', async () => {
    const lists = await startAllLists()
    // A recursive resolver on the network: every query takes 60 ms.
    const slow = await startSlowServer(lists, () => 60)
    try {
      const spf = `v=spf1 mx ${Array.from({ length: 82 }, (_, index) => `ip4:9.9.9.${index}`).join(' ')} -all`
      const report = await checkWith({
        records: records(spf),
        lists: slow,
        listCount: 8,
      })
      const line = lineOf(report, 'blocklists')
      expect(line.evidence).toHaveLength(64)
      expect(line.details).toEqual(['18 more addresses not checked.'])
      expect(line.state).toBe('good')
    } finally {
      await slow.stop()
      await lists.stop()
    }
  })

  it('says which addresses it left out when the lists answer slowly', async () => {
    const lists = await startAllLists()
    const slow = await startSlowServer(lists, () => 250)
    try {
      const spf = `v=spf1 mx ${Array.from({ length: 64 }, (_, index) => `ip4:9.9.9.${index}`).join(' ')} -all`
      const report = await checkWith({ records: records(spf), lists: slow, listTimeoutMs: 2_500 })
      const line = lineOf(report, 'blocklists')
      expect(report.durationMs).toBeLessThan(15_000)
      const late = 64 - line.evidence.length
      expect(late).toBeGreaterThan(0)
      expect(line.state).toBe('unknown')
      expect(line.details).toContain(
        `${late} addresses were not checked: the blocklists answer slowly.`,
      )
    } finally {
      await slow.stop()
      await lists.stop()
    }
  })
})

describe('a small network', () => {
  it('has all its addresses, whichever of them is published', () => {
    const network = { via: '', family: 4 as const, prefix: 30, address: '192.0.2.6' }
    expect(addressesOfNetwork(network)).toEqual([
      '192.0.2.4',
      '192.0.2.5',
      '192.0.2.6',
      '192.0.2.7',
    ])
    expect(addressesOfNetwork({ ...network, prefix: 32 })).toEqual(['192.0.2.6'])
  })
})

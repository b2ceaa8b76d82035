import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkAddress } from '../../../src/diagnostics/blacklist.ts'
import { createResolver } from '../../../src/net/dns.ts'
import { sweepAddress } from '../../../src/protocols/dnsbl/sweep-address.ts'
import { check, enabled, IP, itemOf, open, startersForEach } from '../../servers/blacklists.ts'

const start = startersForEach()

describe('a sweep', () => {
  it('queries each list once for the address and once for each control, and for the text only after a hit', async () => {
    const server = await start.lists({ 'zen.spamhaus.org': { listed: { [IP]: '127.0.0.2 x' } } })
    const result = await check(open(server))
    const log = server.queryLog()
    expect(result).toMatchObject({ listedCount: 1, unknownCount: 0, warnings: [] })
    for (const control of ['4.4.8.8', '2.0.0.127', '1.0.0.127']) {
      const names = log.filter((line) => line.startsWith(`${control}.`) && line.endsWith(' A'))
      expect([...new Set(names)].toSorted()).toEqual(
        enabled.map(({ zone }) => `${control}.${zone} A`).toSorted(),
      )
      // A query is repeated only when its answer is late, as on a busy machine.
      expect(names.length).toBeLessThan(2 * enabled.length)
    }
    expect(log.filter((line) => line.endsWith(' TXT'))).toEqual(['4.4.8.8.zen.spamhaus.org TXT'])
  })

  it('keeps answers for their TTL and no longer', async () => {
    const server = await start.lists(
      { 'bl.spamcop.net': { listed: { [IP]: '127.0.0.2 x' } } },
      { ttl: 120, negativeTtl: 60 },
    )
    const blocklists = open(server)
    const first = await check(blocklists)
    expect(itemOf(first, 'bl.spamcop.net')?.ttl).toBe(120)
    expect(itemOf(first, 'psbl.surriel.com')?.ttl).toBe(60)
    const asked = () =>
      server.queryLog().filter((line) => line.startsWith('4.4.8.8.') && line.endsWith(' A')).length
    const again = await check(blocklists)
    expect(asked()).toBe(enabled.length)
    expect(again.checkedAt).toBe(first.checkedAt)
    await server.setZones({ 'psbl.surriel.com': { listed: { [IP]: '127.0.0.2 now' } } })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    onTestFinished(() => void vi.useRealTimers())
    const later = await check(blocklists)
    expect(itemOf(later, 'psbl.surriel.com')).toMatchObject({ status: 'listed', reason: 'now' })
    expect(asked()).toBe(2 * enabled.length - 1)
  })

  it('repeats queries on request', async () => {
    const server = await start.lists()
    const blocklists = open(server)
    const lists = blocklists.lists.filter((list) => list.zone === 'bl.spamcop.net')
    const sweep = (fresh: boolean) =>
      sweepAddress(IP, blocklists, AbortSignal.timeout(5_000), { lists, fresh })
    expect(await sweep(false)).toMatchObject([{ status: 'clean' }])
    await server.setZones({ 'bl.spamcop.net': { listed: { [IP]: '127.0.0.2 x' } } })
    expect(await sweep(false)).toMatchObject([{ status: 'clean' }])
    expect(await sweep(true)).toMatchObject([{ status: 'listed' }])
  })

  it('takes as long as the slowest blocklist, and reports fast answers at once', async () => {
    const server = await start.lists()
    const delayed = await start.slow(server, (name) =>
      /^4\.4\.8\.8\.(zen|bl)\./.test(name) ? 700 : 0,
    )
    const blocklists = open(delayed, { timeoutMs: 2_000 })
    const begun = performance.now()
    const told: string[] = []
    const result = await check(blocklists, IP, ({ dnsbl }) => told.push(dnsbl))
    const took = performance.now() - begun
    expect(result.unknownCount).toBe(0)
    const isSlow = (zone: string) => /^(zen|bl)\./.test(zone)
    const slow = told.filter(isSlow)
    expect(slow).toContain('zen.spamhaus.org')
    expect(slow.length).toBeGreaterThan(3)
    // One after the other, they would take this long.
    expect(took).toBeLessThan(slow.length * 700)
    expect(told.slice(-slow.length).every(isSlow)).toBe(true)
    expect(told).toHaveLength(enabled.length)
  })

  it('repeats a query where the resolver had no answer', async () => {
    const server = await start.lists()
    const blocklists = open(server)
    await check(blocklists, '8.8.4.9')
    await server.setZones({ 'zen.spamhaus.org': { behaviour: 'expired' } })
    const checking = check(blocklists)
    await expect.poll(() => server.queryLog()).toContain('4.4.8.8.zen.spamhaus.org A')
    await server.setZones({ 'zen.spamhaus.org': { listed: { [IP]: '127.0.0.2 x' } } })
    expect(itemOf(await checking, 'zen.spamhaus.org')).toMatchObject({ status: 'listed' })
  })

  it('returns partial results when its signal aborts, and caches no unanswered query', async () => {
    const server = await start.lists()
    const blocklists = open(server, { timeoutMs: 20_000 })
    await check(blocklists, '8.8.4.9')
    await server.setZones({ 'zen.spamhaus.org': { behaviour: 'silent' } })
    const begun = performance.now()
    const result = await checkAddress(IP, blocklists, AbortSignal.timeout(500))
    expect(performance.now() - begun).toBeLessThan(15_000)
    expect(itemOf(result, 'zen.spamhaus.org')).toMatchObject({ status: 'unknown', listed: false })
    expect(itemOf(result, 'bl.spamcop.net')).toMatchObject({ status: 'clean' })
    await server.setZones({ 'zen.spamhaus.org': { listed: { [IP]: '127.0.0.2 x' } } })
    expect(itemOf(await check(blocklists), 'zen.spamhaus.org')).toMatchObject({ status: 'listed' })
  })

  it('completes within eight seconds on a silent network', async () => {
    const server = await start.lists()
    const blackHole = await start.slow(server, () => null)
    const begun = performance.now()
    const result = await check(open(blackHole, { timeoutMs: 20_000 }))
    expect(performance.now() - begun).toBeLessThan(15_000)
    expect(result).toMatchObject({ listedCount: 0, cleanCount: 0, unknownCount: enabled.length })
    expect(result.warnings).toEqual([expect.stringContaining('The resolver (127.0.0.1 port')])
  })

  it('believes “not listed” from a list only through the resolver that showed its test entry', async () => {
    const honest = await start.lists()
    const blocklists = open(honest)
    await check(blocklists, '8.8.4.9')
    const other = await start.lists()
    const elsewhere = createResolver({ servers: [other] })
    const result = await check({ ...blocklists, resolver: elsewhere })
    expect(itemOf(result, 'zen.spamhaus.org')).toMatchObject({
      status: 'unknown',
      health: 'healthy',
    })
    expect(result).toMatchObject({ listedCount: 0, cleanCount: 0, unknownCount: enabled.length })
  })
})

import { describe, expect, it } from 'vitest'
import { combineSets } from '../../src/protocols/networks/combine.ts'
import { decodeNetworkSet, encodeNetworkSet } from '../../src/protocols/networks/encode-set.ts'
import {
  contains,
  formatNetwork,
  isPublicNetwork,
  parseNetwork,
  type Network,
} from '../../src/protocols/networks/network.ts'
import {
  countNetworks,
  countOverlap,
  createNetworkSet,
  findOverlapping,
  networksOf,
} from '../../src/protocols/networks/network-set.ts'

const network = (text: string) => parseNetwork(text) as Network
const setOf = (texts: string[], since = 0) =>
  createNetworkSet(texts.map((text) => ({ ...network(text), since })))
const textsOf = (set: ReturnType<typeof setOf>) => [...networksOf(set)].map(formatNetwork)

describe('networks as numbers', () => {
  it.each([
    ['8.8.4.4', '8.8.4.4'],
    ['8.8.4.0/24', '8.8.4.0/24'],
    ['255.255.255.255', '255.255.255.255'],
    ['2001:db8:1:2:3::1', '2001:db8:1:2::/64'],
    ['2a00:1450::/29', '2a00:1450::/29'],
  ])('reads %s', (text, written) => {
    expect(formatNetwork(network(text))).toBe(written)
  })

  it.each(['8.8.4', '010.8.4.4', '8.8.4.4/24', '8.8.4.4/33', '8.8.4.4/', '::1%eth0', '::/129', ''])(
    'rejects %j',
    (text) => expect(parseNetwork(text)).toBeNull(),
  )

  it('knows which networks are entirely public', () => {
    const isPublic = (text: string) => isPublicNetwork(network(text))
    expect(['8.8.4.4', '1.10.16.0/20', '2a00:1450::/29'].every(isPublic)).toBe(true)
    const special = ['10.1.2.3', '192.0.0.0/8', '0.0.0.0/1', '127.0.0.1', '100.64.0.0/10', '224.0.0.0/4', 'fe80::1', '2001:db8::/32', '2002::/16', '::/1'] // prettier-ignore
    expect(special.filter(isPublic)).toEqual([])
  })
})

describe('sets of networks', () => {
  it('leave out networks inside others, and survive being stored', () => {
    const set = setOf(['9.9.9.0/24', '9.9.9.9', '1.2.3.4', '2a00::/32', '2a00:0:1::1'], 1_700_000_000) // prettier-ignore
    expect(textsOf(set)).toEqual(['1.2.3.4', '9.9.9.0/24', '2a00::/32'])
    const stored = decodeNetworkSet(encodeNetworkSet(set))
    expect(stored).toEqual(set)
    expect(findOverlapping(stored, network('9.9.9.200'))?.since).toBe(1_700_000_000)
    expect(findOverlapping(stored, network('9.9.10.1'))).toBeUndefined()
    expect(findOverlapping(stored, network('9.9.0.0/16'))?.bits).toBe(24)
  })

  it('agree with a search of every network, for many random ones', () => {
    let seed = 7
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    const texts = Array.from({ length: 400 }, () => {
      const bits = 18 + random(15)
      const address = ((20 << 24) | (random(1 << 20) << 4)) & (-1 << (32 - bits))
      return formatNetwork({ family: 4, start: BigInt(address >>> 0), bits })
    })
    const [ours, theirs] = [texts.slice(0, 300), texts.slice(300)]
    const set = setOf(ours)
    const overlapping = (a: Network) => ours.map(network).some((b) => contains(a, b) || contains(b, a)) // prettier-ignore
    for (const text of theirs) {
      const found = findOverlapping(set, network(text)) !== undefined
      expect([text, found]).toEqual([text, overlapping(network(text))])
    }
    const other = setOf(theirs)
    const counted = [...networksOf(other)].filter(overlapping).length
    expect(countOverlap(other, set)).toBe(counted)
    expect(countNetworks(other)).toBeGreaterThan(counted)
  })

  it('are combined without what is excluded', async () => {
    const sets = [
      { name: 'a', set: setOf(['9.9.8.0/22', '2a00::/32', '1.1.1.1']) },
      { name: 'b', set: setOf(['9.9.9.9', '9.9.12.1']) },
    ]
    const excluded = ['9.9.9.9', '1.1.1.0/24', '2a00:0:8000::/33'].map(network)
    const combined = await combineSets(sets, excluded)
    const texts = combined.map(formatNetwork)
    expect(texts).toEqual([
      '9.9.8.0/24',
      '9.9.9.0/29',
      '9.9.9.8',
      '9.9.9.10/31',
      '9.9.9.12/30',
      '9.9.9.16/28',
      '9.9.9.32/27',
      '9.9.9.64/26',
      '9.9.9.128/25',
      '9.9.10.0/23',
      '9.9.12.1',
      '2a00::/33',
    ])
    expect(combined[0]?.names).toEqual(['a', 'b'])
  })
})

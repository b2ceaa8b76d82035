import * as fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { createPrefixTable } from '../../src/abuse/ranges/prefix-table.ts'

describe('a table of networks', () => {
  it('contains exactly the addresses of its networks, including their first and last', () => {
    const table = createPrefixTable([
      '1.1.1.0/24',
      '0.0.0.0/8',
      '9.9.9.9/32',
      '2606:4700::/32',
      '2a00:1450::/127',
    ])
    const held = ['1.1.1.0', '1.1.1.255', '0.1.2.3', '9.9.9.9', '2606:4700:ffff::1', '2a00:1450::5']
    const free = [
      '1.1.0.255',
      '1.1.2.0',
      '9.9.9.8',
      '2606:4701::',
      '2a00:1450:0:1::',
      '255.255.255.255',
    ]
    expect(held.filter((address) => !table.has(address))).toEqual([])
    expect(free.filter((address) => table.has(address))).toEqual([])
  })

  it('accepts the key of an IPv6 address', () => {
    expect(createPrefixTable(['2606:4700::/48']).has('2606:4700:0:7::/64')).toBe(true)
  })

  it('holds everything, or nothing', () => {
    expect(createPrefixTable(['0.0.0.0/0', '::/0']).has('8.8.4.4')).toBe(true)
    expect(createPrefixTable(['0.0.0.0/0', '::/0']).has('2606:4700::1')).toBe(true)
    expect(createPrefixTable([]).has('8.8.4.4')).toBe(false)
  })

  it('agrees with ipaddr.js', () => {
    const near = fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.nat(255))
      .map(([a, b]) => `${128 + a}.64.${a}.${b}`)
    const network = fc
      .tuple(near, fc.integer({ min: 0, max: 32 }))
      .map(([address, bits]) => `${address}/${bits}`)
    fc.assert(
      fc.property(fc.array(network, { maxLength: 5 }), near, (networks, address) => {
        const parsed = ipaddr.parse(address)
        const expected = networks.some((cidr) => parsed.match(ipaddr.parseCIDR(cidr)))
        expect(createPrefixTable(networks).has(address)).toBe(expected)
      }),
    )
  })
})

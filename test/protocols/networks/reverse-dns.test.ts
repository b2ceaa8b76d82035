import { describe, expect, it } from 'vitest'
import { isGenericName, lookUpReverse } from '../../../src/protocols/networks/reverse-dns.ts'
import { mapResolver } from '../../resolver.ts'

const PTR = '4.4.8.8.in-addr.arpa PTR'

describe('the reverse DNS of an address', () => {
  it('is confirmed when one of its names leads back, which then comes first', async () => {
    const resolver = mapResolver({
      [PTR]: ['old.example', 'Mail.Example'],
      'mail.example A': ['192.0.2.1', '8.8.4.4'],
    })
    expect(await lookUpReverse('8.8.4.4', resolver)).toEqual({
      status: 'confirmed',
      names: ['mail.example', 'old.example'],
    })
  })

  it('is confirmed for IPv6 in any spelling of the address', async () => {
    const name = '8.8.8.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.0.6.8.4.1.0.0.2.ip6.arpa PTR'
    const resolver = mapResolver({
      [name]: ['mail.example'],
      'mail.example AAAA': ['2001:4860:4860:0:0:0:0:8888'],
    })
    expect(await lookUpReverse('2001:4860:4860::8888', resolver)).toMatchObject({
      status: 'confirmed',
    })
  })

  it('is unconfirmed when no name resolves to the address, and missing without a name', async () => {
    const astray = mapResolver({ [PTR]: ['mail.example'], 'mail.example A': ['192.0.2.1'] })
    expect(await lookUpReverse('8.8.4.4', astray)).toEqual({
      status: 'unconfirmed',
      names: ['mail.example'],
    })
    expect(await lookUpReverse('8.8.4.4', mapResolver())).toEqual({ status: 'missing', names: [] })
  })

  it('is unknown, and never missing or unconfirmed, when a server did not answer', async () => {
    const broken = mapResolver({}, { '*': 'SERVFAIL' })
    expect(await lookUpReverse('8.8.4.4', broken)).toEqual({ status: 'unknown', names: [] })
    const half = mapResolver({ [PTR]: ['mail.example'] }, { 'mail.example A': 'TIMEOUT' })
    expect(await lookUpReverse('8.8.4.4', half)).toMatchObject({ status: 'unknown' })
  })

  it('does not follow more names than ten', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `n${index}.example`)
    const resolver = mapResolver({ [PTR]: names })
    await lookUpReverse('8.8.4.4', resolver)
    expect(resolver.asked.length).toBe(11)
  })
})

describe('a generic name', () => {
  const generic = [
    '198-51-100-23.dsl.provider.example',
    '23.100.51.198.provider.example',
    'host-100-51-198.provider.example',
    'c6336417.provider.example',
    'dyn.provider.example',
    'pool-7.provider.example',
    'customer-dhcp-12.provider.example',
    'hostc6336417.provider.example',
    'ip198.51.100.23.provider.example',
    'n198051100023.provider.example',
    'ec2-198-51-100-23.compute.amazonaws.com',
    'a.pool.provider.co.uk',
  ]
  it.each(generic)('is %s', (name) => expect(isGenericName(name, '198.51.100.23')).toBe(true))

  const chosen = [
    'mail.example',
    'mx1.dynamics.example',
    'mail23.example',
    'poolside.example',
    'cable-guy.example',
    // The registered domain is chosen by its owner.
    'mail.pool.test',
    'mx.dsl.test',
    'mail.cable.co.uk',
    '198-51-100-23.example',
    // Other numbers that have the octets in them.
    'host1198-51-100-23.provider.example',
    'host198-51-100-230.provider.example',
    'rack100-51-198.provider.example',
    'rack-7-100-51-198.provider.example',
    'ac6336417.provider.example',
  ]
  it.each(chosen)('is not %s', (name) => expect(isGenericName(name, '198.51.100.23')).toBe(false))

  it('is not made of small numbers within others', () => {
    for (const name of ['rack21-2-35.provider.example', 'r1-2-3.provider.example'])
      expect(isGenericName(name, '1.2.3.4')).toBe(false)
    expect(isGenericName('1-2-3.provider.example', '1.2.3.4')).toBe(true)
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fault } from '../../src/errors.ts'
import {
  classify,
  isAllowed,
  parseAddress,
  parseHost,
  reversedLabels,
  reverseName,
} from '../../src/net/address.ts'
import { readConfig } from '../../src/config.ts'
import { anyText } from '../any-text.ts'

function nameOf(input: string): string {
  const host = parseHost(input)
  return host.kind === 'name' ? host.name : `ip ${host.address}`
}

describe('a host as users type it', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    [' example.com ', 'example.com'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['XN--MNCHEN-3YA.de', 'xn--mnchen-3ya.de'],
    ['faß.de', 'xn--fa-hia.de'],
    ['ｅｘａｍｐｌｅ。com', 'example.com'],
    ['_dmarc.example.com', '_dmarc.example.com'],
    ['r4---sn.example.com', 'r4---sn.example.com'],
    ['1.2.3.4.example', '1.2.3.4.example'],
    ['localhost', 'localhost'],
    ['192.0.2.1', 'ip 192.0.2.1'],
    ['2001:DB8:0:0::1', 'ip 2001:db8::1'],
    ['[2001:db8::1]', 'ip 2001:db8::1'],
    ['::ffff:192.0.2.1', 'ip ::ffff:c000:201'],
  ])('%j is %s', (input, expected) => {
    expect(nameOf(input)).toBe(expected)
  })

  it('keeps the name as entered', () => {
    expect(parseHost('XN--MNCHEN-3YA.de.')).toEqual({
      kind: 'name',
      name: 'xn--mnchen-3ya.de',
      unicode: 'münchen.de',
    })
  })

  it.each([
    '',
    '.',
    'a..b',
    '.a',
    'a b.test',
    'a\u0000b.test',
    'ex%41mple.test',
    'https://example.com',
    'example.com/path',
    'example.com:443',
    'user@example.com',
    '[192.0.2.1]',
    '[::1',
    'fe80::1%eth0',
    '127.1',
    '1.2.3',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '127.0.0.01',
    '１２７.0.0.1',
    '256.1.1.1',
    '127.0.0.1.',
    '*.example.com',
    'a,b.test',
    `${'x'.repeat(64)}.test`,
    Array.from({ length: 64 }, () => 'abc').join('.'),
  ])('refuses %j', (input) => {
    expect(() => parseHost(input, 'domain')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ path: 'domain', message: expect.any(String) }],
      }),
    )
  })

  it('is rejected, or parses to the same name again', () => {
    const pieces = fc.constantFrom(
      'a',
      '1',
      '.',
      '-',
      '_',
      'ü',
      '0x',
      '%',
      ':',
      '[',
      ']',
      '。',
      'xn--',
      '\u00ad',
      '/',
      '@',
      ' ',
    )
    const inputs = fc.oneof(
      anyText(),
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(inputs, (input) => {
        try {
          const host = parseHost(input)
          expect(parseHost(host.kind === 'ip' ? host.address : host.name)).toEqual(host)
          if (host.kind === 'name') expect(parseAddress(host.name)).toBeNull()
        } catch (error) {
          if (!(error instanceof Fault)) throw error
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('an address', () => {
  it.each([
    '8.8.8.8',
    '192.0.3.1',
    '100.128.0.1',
    '2a00:1450::1',
    '2606:4700::1111',
    '64:ff9b::8.8.8.8',
  ])('%s is public', (address) => {
    expect(classify(address)).toEqual({ public: true })
  })

  it.each([
    ['127.0.0.1', 'a loopback address'],
    ['10.1.2.3', 'a private address'],
    ['172.31.0.1', 'a private address'],
    ['192.168.1.1', 'a private address'],
    ['169.254.169.254', 'a link-local address'],
    ['100.64.0.1', 'an address behind carrier-grade NAT'],
    ['0.0.0.0', 'not a host address'],
    ['0.1.2.3', 'not a host address'],
    ['224.0.0.1', 'a multicast address'],
    ['255.255.255.255', 'a broadcast address'],
    ['192.0.2.1', 'an address reserved for documentation, tests or future use'],
    ['198.18.0.1', 'an address reserved for documentation, tests or future use'],
    ['240.0.0.1', 'an address reserved for documentation, tests or future use'],
    ['::', 'not a host address'],
    ['::1', 'a loopback address'],
    ['fc00::1', 'a private address'],
    ['fd00:ec2::254', 'a private address'],
    ['fec0::1', 'a private address'],
    ['fe80::1', 'a link-local address'],
    ['ff02::1', 'a multicast address'],
    ['::ffff:8.8.8.8', 'an IPv4 address written as IPv6'],
    ['::ffff:7f00:1', 'an IPv4 address written as IPv6'],
    ['::127.0.0.1', 'an IPv4 address written as IPv6'],
    ['::7f00:1', 'not a public address'],
    ['::ffff:0:127.0.0.1', 'an IPv4 address written as IPv6'],
    ['64:ff9b::127.0.0.1', 'an IPv4 address written as IPv6'],
    ['64:ff9b:1::8.8.8.8', 'an IPv4 address written as IPv6'],
    ['2002:7f00:1::1', 'a 6to4 address'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'a Teredo address'],
    ['2001:db8::1', 'an address reserved for documentation, tests or future use'],
    ['3fff::1', 'an address reserved for documentation, tests or future use'],
    ['4000::1', 'not a public address'],
  ])('%s is %s', (address, why) => {
    expect(classify(address)).toEqual({ public: false, why })
  })

  it('that is not public is allowed by its network alone', () => {
    const { ALLOW_PRIVATE_TARGETS: networks } = readConfig({
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8, fd00::/8',
    })
    expect(isAllowed('127.0.0.1', networks)).toBe(true)
    expect(isAllowed('fd00::1', networks)).toBe(true)
    expect(isAllowed('8.8.8.8', networks)).toBe(true)
    expect(isAllowed('10.0.0.1', networks)).toBe(false)
    expect(isAllowed('::ffff:127.0.0.1', networks)).toBe(false)
    expect(isAllowed('10.0.0.1', true)).toBe(true)
    expect(isAllowed('10.0.0.1', false)).toBe(false)
  })

  it('stands reversed in the DNS', () => {
    expect(reversedLabels('192.0.2.4')).toBe('4.2.0.192')
    expect(reverseName('192.0.2.4')).toBe('4.2.0.192.in-addr.arpa')
    expect(reverseName('2001:db8::567:89ab')).toBe(
      'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
    )
  })
})

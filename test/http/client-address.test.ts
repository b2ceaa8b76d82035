import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { clientAddress, clientNetwork } from '../../src/http/client-address.ts'

const socket = (remoteAddress: string | undefined) => ({ remoteAddress }) as Socket
const trusted = ['10.0.0.0/8', 'fd00::/8', 'fe80::/10'].map((network) => ipaddr.parseCIDR(network))

describe('the client’s address by X-Forwarded-For', () => {
  it.each([
    ['203.0.113.9', '1.2.3.4', '203.0.113.9', 'an untrusted peer is the client, whatever it sends'],
    ['10.0.0.1', '1.2.3.4', '1.2.3.4', 'a trusted proxy names the client'],
    [
      '10.0.0.1',
      '6.6.6.6, 1.2.3.4, 10.0.0.2',
      '1.2.3.4',
      'the last address that is no trusted proxy is the client',
    ],
    ['10.0.0.1', '6.6.6.6,1.2.3.4,10.0.0.2', '1.2.3.4', 'commas need no spaces'],
    ['::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4', 'an IPv4 peer on an IPv6 socket is the same peer'],
    [
      '10.0.0.1',
      '::ffff:1.2.3.4',
      '1.2.3.4',
      'an IPv4 address mapped into IPv6 is the IPv4 address',
    ],
    ['10.0.0.1', '::FFFF:102:304', '1.2.3.4', 'in hexadecimal too'],
    ['10.0.0.1', '1.2.3.4:5678', '1.2.3.4', 'Azure and IIS add a port'],
    [
      '10.0.0.1',
      '6.6.6.6:1, 1.2.3.4:5678, 10.0.0.2:443',
      '1.2.3.4',
      'ports of trusted hops are read too',
    ],
    ['10.0.0.1', '[2001:db8::1]:443', '2001:db8::1', 'brackets and ports belong to the proxy'],
    ['10.0.0.1', '[2001:db8::1]', '2001:db8::1', 'brackets need no port'],
    ['10.0.0.1', '"[2001:db8::1]:443"', '2001:db8::1', 'quotes belong to the proxy'],
    ['10.0.0.1', '"1.2.3.4"', '1.2.3.4', 'quotes around IPv4 too'],
    ['10.0.0.1', '2001:db8::1%eth0', '2001:db8::1', 'a zone id is dropped'],
    ['10.0.0.1', '[2001:db8::1%25eth0]:1', '2001:db8::1', 'an escaped zone id is dropped'],
    ['10.0.0.1', 'unknown', '10.0.0.1', 'Squid’s unknown is no address'],
    ['10.0.0.1', '1.2.3.4, unknown', '10.0.0.1', 'what stands left of it is not believed'],
    [
      '10.0.0.1',
      '1.2.3.4, unknown, 10.0.0.2',
      '10.0.0.2',
      'the last trusted address is the client then',
    ],
    ['10.0.0.1', '_hidden', '10.0.0.1', 'an obfuscated identifier is no address'],
    ['10.0.0.1', '', '10.0.0.1', 'an empty header names nobody'],
    ['10.0.0.1', '1.2.3.4,', '1.2.3.4', 'an empty element is ignored'],
    ['10.0.0.1', '5.5.5.5, , 10.0.0.2,', '5.5.5.5', 'also between others'],
    ['10.0.0.1', ' , ', '10.0.0.1', 'empty elements alone name nobody'],
    ['10.0.0.1', '1.2.3', '10.0.0.1', 'a short IPv4 form is no address'],
    ['10.0.0.1', '0x01020304', '10.0.0.1', 'a hexadecimal number is no address'],
    ['10.0.0.1', '010.2.3.4', '10.0.0.1', 'leading zeros are no address'],
    ['10.0.0.1', '1.2.3.4:5678:9', '10.0.0.1', 'two ports are no address'],
    ['10.0.0.1', '1.2.3.4/24', '10.0.0.1', 'a network is no address'],
    ['10.0.0.1', '<script>', '10.0.0.1', 'junk is no address'],
    ['10.0.0.1', '\u0000\u00ff"\\', '10.0.0.1', 'nor is a lone quote and a backslash'],
    ['10.0.0.1', '10.0.0.3', '10.0.0.3', 'the first proxy is the client when all are proxies'],
    ['fd00::1', '2001:DB8:0::2', '2001:db8::2', 'IPv6 is written in its canonical form'],
    ['fe80::1%eth0', '1.2.3.4', '1.2.3.4', 'a trusted peer may have a zone id'],
  ])('of %s with “%s” is %s: %s', (peer, forwardedFor, expected) => {
    expect(clientAddress(socket(peer), { 'x-forwarded-for': forwardedFor }, trusted)).toBe(expected)
  })

  it('is the peer’s without trusted proxies', () => {
    expect(
      clientAddress(
        socket('10.0.0.1'),
        { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=1.2.3.4' },
        [],
      ),
    ).toBe('10.0.0.1')
  })

  it('is an address even for a closed connection', () => {
    expect(clientAddress(socket(undefined), { 'x-forwarded-for': '1.2.3.4' }, trusted)).toBe(
      '0.0.0.0',
    )
  })
})

describe('the client’s address by Forwarded (RFC 7239)', () => {
  it.each([
    ['for=1.2.3.4', '1.2.3.4'],
    ['For="1.2.3.4:5678"', '1.2.3.4'],
    ['FOR=1.2.3.4;proto=https;by=10.0.0.1', '1.2.3.4'],
    ['by=10.0.0.1;for=1.2.3.4', '1.2.3.4'],
    ['for="[2001:DB8::1]:443"', '2001:db8::1'],
    ['for="[2001:db8::1]"', '2001:db8::1'],
    ['for="1.2.3.4:_port"', '1.2.3.4'],
    ['for="1\\.2.3.4"', '1.2.3.4'],
    ['for=6.6.6.6, for=1.2.3.4, for=10.0.0.2', '1.2.3.4'],
    ['for=6.6.6.6,for=1.2.3.4;host="a,b;for=9.9.9.9",for=10.0.0.2', '1.2.3.4'],
    ['for=1.2.3.4 ; proto=http', '1.2.3.4'],
    // A client's open quotation mark must not swallow what the proxy added.
    ['for="6.6.6.6, for=1.2.3.4', '1.2.3.4'],
    ['for="6.6.6.6\\", for=1.2.3.4', '1.2.3.4'],
    ['for=unknown', '10.0.0.1'],
    ['for=_hidden', '10.0.0.1'],
    ['for="_SEVKISEK"', '10.0.0.1'],
    ['for=1.2.3.4, for=unknown', '10.0.0.1'],
    ['for=1.2.3.4, for=unknown, for=10.0.0.2', '10.0.0.2'],
    ['for=1.2.3.4, proto=https', '10.0.0.1'],
    ['for=1.2.3.4;for=5.6.7.8', '10.0.0.1'],
    ['1.2.3.4', '10.0.0.1'],
    ['for', '10.0.0.1'],
    ['for=', '10.0.0.1'],
    ['', '10.0.0.1'],
    [',', '10.0.0.1'],
    ['"', '10.0.0.1'],
  ])('“%s” is %s', (forwarded, expected) => {
    expect(clientAddress(socket('10.0.0.1'), { forwarded }, trusted)).toBe(expected)
  })

  it('is not read from an untrusted peer', () => {
    expect(clientAddress(socket('203.0.113.9'), { forwarded: 'for=1.2.3.4' }, trusted)).toBe(
      '203.0.113.9',
    )
  })

  it('is not read where X-Forwarded-For is present', () => {
    const both = { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=6.6.6.6' }
    expect(clientAddress(socket('10.0.0.1'), both, trusted)).toBe('1.2.3.4')
    const junk = { 'x-forwarded-for': 'unknown', forwarded: 'for=6.6.6.6' }
    expect(clientAddress(socket('10.0.0.1'), junk, trusted)).toBe('10.0.0.1')
  })

  it('is found in linear time in the longest possible header', () => {
    const started = performance.now()
    for (const piece of [' ', '"', '\\', '\\"', ',', ';', 'for=', 'for=10.0.0.1,', '=', '[']) {
      const text = piece.repeat(16_384 / piece.length)
      clientAddress(socket('10.0.0.1'), { forwarded: `${text}, for=10.0.0.2` }, trusted)
      clientAddress(socket('10.0.0.1'), { 'x-forwarded-for': `${text}, 10.0.0.2` }, trusted)
    }
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

it('counts an IPv4 address and an IPv6 /64 as one client', () => {
  expect(clientNetwork('1.2.3.4')).toBe('1.2.3.4')
  expect(clientNetwork('::ffff:1.2.3.4')).toBe('1.2.3.4')
  expect(clientNetwork('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSubject } from '../../src/abuse/subject.ts'
import { Fault } from '../../src/errors.ts'

const GOOD: [string, string, string][] = [
  ['8.8.4.4', '8.8.4.4', '8.8.4.4'],
  ['203.0.112.255', '203.0.112.255', '203.0.112.255'],
  ['172.32.0.1', '172.32.0.1', '172.32.0.1'],
  ['::ffff:8.8.4.4', '8.8.4.4', '8.8.4.4'],
  ['::FFFF:0808:0404', '8.8.4.4', '8.8.4.4'],
  ['2A00:1450:4001:81B::200E', '2a00:1450:4001:81b::200e', '2a00:1450:4001:81b::/64'],
  ['2606:4700:0:0:1:2:3:4', '2606:4700::1:2:3:4', '2606:4700::/64'],
]

const BAD = [
  // No addresses, or not written as one writes them.
  '',
  ' ',
  'localhost',
  'example.com',
  '8.8.4',
  '8.8.4.4.4',
  '8.8.4.256',
  '8.8.4.-1',
  '127.1',
  '010.0.0.1',
  '0x08.8.4.4',
  '134744068',
  '8.8.4.4/32',
  '8.8.4.4:22',
  ' 8.8.4.4',
  '8.8.4.4\n',
  '８.8.4.4',
  "8.8.4.4'; drop table abuse_address; --",
  '[2606:4700::1]',
  '2606:4700::1%eth0',
  '2606:4700::1::2',
  '2606:4700::12345',
  ':',
  '2606:4700:0000:0000:0000:0000:0000:0000:0000:0000:0001',
  // Special-purpose addresses.
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.1.1',
  '172.16.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '::8.8.8.8',
  '::7f00:1',
  '64:ff9b::8.8.4.4',
  '100::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:db8::1',
  '2002:808:404::1',
  'fe80::1',
]

describe('the address a report is about', () => {
  it.each(GOOD)('%j is %s, scored as %s', (text, ip, key) => {
    expect(readSubject(text)).toMatchObject({ ip, key })
  })

  it.each([...BAD, 'fc00::1', 'ff02::1'])('rejects %j', (text) => {
    expect(() => readSubject(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ path: 'ip', message: expect.any(String) }],
      }),
    )
  })

  it('names the purpose of a special address', () => {
    expect(() => readSubject('10.0.0.1')).toThrow(
      '“10.0.0.1” is a private address; only public addresses can be reported.',
    )
  })

  it('knows the neighbours', () => {
    expect(readSubject('8.8.4.4').neighbourhood).toBe('8.8.4.0/24')
    expect(readSubject('2606:4700:1:2::1').neighbourhood).toBe('2606:4700:1::/48')
  })

  it('is rejected with a sentence, or parses to itself, for any input', () => {
    const text = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended())
    fc.assert(
      fc.property(text, (given) => {
        let subject
        try {
          subject = readSubject(given)
        } catch (error) {
          return error instanceof Fault && error.code === 'invalid_request'
        }
        return readSubject(subject.ip).key === subject.key
      }),
      { numRuns: 2_000 },
    )
  })
})

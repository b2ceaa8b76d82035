import { describe, expect, it } from 'vitest'
import { guessTarget, targetText } from '../../web/src/check/guess-target.ts'

describe('input of the check box', () => {
  it.each([
    ['example.com', 'example.com'],
    ['  Example.COM. ', 'example.com'],
    ['alice@example.com', 'example.com'],
    ['mailto:alice@example.com', 'example.com'],
    ['bücher.example', 'bücher.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['1.2.3.4.example', '1.2.3.4.example'],
  ])('is a domain: %s', (typed, name) => {
    expect(guessTarget(typed)).toEqual({ kind: 'domain', name })
  })
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    [' http://192.0.2.1/admin ', '192.0.2.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ])('is an address: %s', (typed, name) => {
    expect(guessTarget(typed)).toEqual({ kind: 'address', name })
  })
  it.each([
    ['https://www.example.com:8443/path?q=a@b#c', 'domain', 'www.example.com', 8443],
    ['mail.example.com:993', 'domain', 'mail.example.com', 993],
    ['192.0.2.1:25', 'address', '192.0.2.1', 25],
    ['[2001:db8::1]:25', 'address', '2001:db8::1', 25],
  ])('has a port: %s', (typed, kind, name, port) => {
    expect(guessTarget(typed)).toEqual({ kind, name, port })
    expect(guessTarget(targetText({ kind: 'domain', name, port }))?.port).toBe(port)
  })
  it('is nothing to check when it names no host', () => {
    for (const typed of ['', '  ', 'hello', 'two words.com here', '1.2.3', 'http://', '@']) {
      expect([typed, guessTarget(typed)]).toEqual([typed, null])
    }
  })
})

import { describe, expect, it } from 'vitest'
import { guessTarget } from '../../web/src/check/guess-target.ts'

describe('input of the check box', () => {
  it.each([
    ['example.com', 'example.com'],
    ['  Example.COM. ', 'example.com'],
    ['https://www.example.com:8443/path?q=a@b#c', 'www.example.com'],
    ['alice@example.com', 'example.com'],
    ['mailto:alice@example.com', 'example.com'],
    ['mail.example.com:993', 'mail.example.com'],
    ['bücher.example', 'bücher.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['1.2.3.4.example', '1.2.3.4.example'],
  ])('is a domain: %s', (typed, name) => {
    expect(guessTarget(typed)).toEqual({ kind: 'domain', name })
  })
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    [' http://192.0.2.1/admin ', '192.0.2.1'],
    ['192.0.2.1:25', '192.0.2.1'],
  ])('is an address: %s', (typed, name) => {
    expect(guessTarget(typed)).toEqual({ kind: 'address', name })
  })
  it('is nothing to check when it names no host', () => {
    for (const typed of [
      '',
      '  ',
      'hello',
      'two words.com here',
      '2001:db8::1',
      '1.2.3',
      'http://',
      '@',
    ]) {
      expect([typed, guessTarget(typed)]).toEqual([typed, null])
    }
  })
})

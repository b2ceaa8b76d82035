import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAltNames } from '../../src/net/tls/certificate.ts'

describe('subject alternative names', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['DNS:a.test', ['a.test']],
    ['DNS:a.test, DNS:*.a.test', ['a.test', '*.a.test']],
    ['IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1', ['192.0.2.1', '2001:db8::1']],
    ['URI:https://a.test/x, email:a@b.test', ['URI:https://a.test/x', 'email:a@b.test']],
    ['DNS:"a.test, DNS:evil.test", DNS:b.test', ['a.test, DNS:evil.test', 'b.test']],
    [String.raw`DNS:"a\u0000b.test"`, ['a\u0000b.test']],
  ])('%j are %j', (text, names) => {
    expect(parseAltNames(text)).toEqual(names)
  })

  it('never throw', () => {
    fc.assert(
      fc.property(
        fc.string(),
        (text) =>
          Array.isArray(parseAltNames(text)) && Array.isArray(parseAltNames(`DNS:"${text}`)),
      ),
    )
  })
})

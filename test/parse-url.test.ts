import { describe, expect, it } from 'vitest'
import { parseUrl } from '../src/parse-url.ts'

const WEB = ['https:', 'http:']

describe('parseUrl', () => {
  it.each([
    'https://shop.example.com/hooks?a=b#c',
    'http://127.0.0.1:65535/',
    'HTTPS://[2001:db8::1]:8443',
  ])('returns the URL of %s', (text) => {
    expect(parseUrl(text, WEB).url?.href).toBe(new URL(text).href)
  })

  it.each([
    ['shop.example.com', 'must be a URL that begins with https:// or http://'],
    ['ftp://shop.example.com', 'must be a URL that begins with https:// or http://'],
    ['https://shop.example.com:65536/in', 'must not have the port 65536: ports end at 65535'],
    [
      'https://user:pass@shop.example.com:99999',
      'must not have the port 99999: ports end at 65535',
    ],
    ['http://[::1]:70000?a', 'must not have the port 70000: ports end at 65535'],
    ['https://shop example.com', 'must have a valid host name or address'],
    ['https://[::g]/', 'must have a valid host name or address'],
    ['https://', 'must have a valid host name or address'],
  ])('says what is wrong with %s', (text, problem) => {
    expect(parseUrl(text, WEB)).toEqual({ url: null, problem })
  })
})

import { expect, it } from 'vitest'
import { cookieIn, cookieLine, cookieNameOf } from '../../src/http/cookies.ts'

const lineAt = (baseUrl: string) =>
  cookieLine({ baseUrl, name: 'oidc', value: 'v', maxAgeSeconds: 60 })
const REST = 'Max-Age=60; Path=/; HttpOnly; SameSite=Lax'

it('no other host of the domain can set a cookie of a service with HTTPS', () => {
  expect(lineAt('https://portreeve.example')).toBe(`__Host-portreeve.oidc=v; ${REST}; Secure`)
  // A part of an origin cannot have the prefix, which needs all of it.
  const below = REST.replace('Path=/', 'Path=/reeve')
  expect(lineAt('https://example.com/reeve')).toBe(`__Secure-portreeve.oidc=v; ${below}; Secure`)
  expect(lineAt('http://localhost:8080')).toBe(`portreeve.oidc=v; ${REST}`)
})

it('a cookie that another host has planted is not read', () => {
  const name = cookieNameOf('https://portreeve.example', 'oidc')
  const planted = 'portreeve.oidc=a; __Secure-portreeve.oidc=b; x__Host-portreeve.oidc=c'
  expect(cookieIn(planted, name)).toBe('')
  expect(cookieIn(`${planted}; __Host-portreeve.oidc=d`, name)).toBe('d')
})

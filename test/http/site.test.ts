import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type App } from '../../src/http/http-server.ts'
import { siteRoutes } from '../../src/http/site.ts'
import { createLog } from '../../src/log.ts'

const folder = mkdtempSync(join(tmpdir(), 'portreeve-site-'))
let app: App

async function serve(root: string): Promise<App> {
  const server = await createServer({
    log: createLog('silent', new Writable({ write: (_chunk, _encoding, done) => done() })),
    version: '0.0.0',
    trustedProxies: [],
    isUnavailable: () => false,
    isReady: async () => true,
  })
  server.post('/api/v1/things', async () => ({ success: true }))
  siteRoutes(server, { root })
  return server
}

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Portreeve</title>')
  writeFileSync(join(folder, 'docs.html'), '<!doctype html><title>API reference</title>')
  mkdirSync(join(folder, 'guide'))
  writeFileSync(join(folder, 'guide/index.html'), '<title>Guide</title>')
  writeFileSync(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(folder, 'assets/main-abc.js'), 'let plain')
  writeFileSync(join(folder, 'assets/main-abc.js.br'), brotliCompressSync('let plain'))
  writeFileSync(
    join(folder, 'screens.json'),
    JSON.stringify([
      { path: '/hooks/new', files: ['assets/new.js'] },
      { path: '/hooks/$id', files: ['assets/hook.js', 'assets/hook.css'] },
    ]),
  )
  app = await serve(folder)
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
const browse = (url: string) => get(url, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })

describe('the built dashboard', () => {
  it('is served at / and every path that a browser navigates to, and always revalidated', async () => {
    for (const url of ['/', '/setup', '/check/example.com?kind=dns']) {
      const response = await browse(url)
      expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-cache'])
      expect(response.body).toContain('<title>Portreeve</title>')
    }
  })
  it('names the files of the screen, so that they load with the first script', async () => {
    const links = async (url: string) => (await browse(url)).headers.link
    expect(await links('/hooks/7?q=1')).toBe(
      '</assets/hook.js>; rel=modulepreload; crossorigin, ' +
        '</assets/hook.css>; rel=preload; as=style; crossorigin',
    )
    expect(await links('/hooks/new')).toBe('</assets/new.js>; rel=modulepreload; crossorigin')
    expect(await links('/hooks')).toBeUndefined()
    expect((await browse('/screens.json')).body).toContain('<title>Portreeve</title>')
  })
  it('allows scripts and styles of its own origin only, and no framing', async () => {
    for (const url of ['/', '/setup', '/favicon.svg']) {
      const { headers } = await browse(url)
      expect(headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'")
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['cross-origin-opener-policy']).toBe('same-origin')
    }
    const { headers } = await browse('/assets/main-abc.js')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['cross-origin-resource-policy']).toBe('same-origin')
    expect(headers['content-security-policy']).toBeUndefined()
  })
  it('serves the API reference at /docs with the same policy, and to programs too', async () => {
    for (const url of ['/docs', '/docs/', '/docs?x']) {
      const response = await get(url)
      expect(response.statusCode).toBe(200)
      expect(response.body).toContain('<title>API reference</title>')
      expect(response.headers['cache-control']).toBe('no-cache')
      expect(response.headers['content-security-policy']).toContain("trusted-types 'none'")
      expect(response.headers['content-security-policy']).not.toContain('unsafe')
    }
    for (const url of ['/docs/static/swagger-ui.js', '/docs/json'])
      expect((await browse(url)).statusCode).toBe(404)
  })
  it('serves the guide at /docs/guide with the same policy, and leads there from the path without a slash', async () => {
    const moved = await get('/docs/guide')
    expect([moved.statusCode, moved.headers['location']]).toEqual([302, 'guide/'])
    for (const url of ['/docs/guide/', '/docs/guide/index.html']) {
      const response = await get(url)
      expect([response.statusCode, response.body]).toEqual([200, '<title>Guide</title>'])
      expect(response.headers['cache-control']).toBe('no-cache')
      expect(response.headers['content-security-policy']).toContain("trusted-types 'none'")
    }
    expect((await browse('/docs/guide/nothing.html')).statusCode).toBe(404)
    expect((await get('/docs/guide/..%2findex.html')).statusCode).toBeGreaterThanOrEqual(400)
  })
  it('serves hashed files as immutable, compressed as built', async () => {
    const response = await get('/assets/main-abc.js', { 'accept-encoding': 'br' })
    expect(response.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      'content-type': 'application/javascript; charset=utf-8',
    })
    expect(response.headers['vary']).toContain('accept-encoding')
    expect((await get('/assets/main-abc.js')).body).toBe('let plain')
  })
  it('returns JSON for unknown paths of the API, of assets and of programs', async () => {
    const answers = [
      await browse('/api/v1/nothing'),
      await browse('/assets/gone.js'),
      await browse('/webhooks/nothing'),
      await get('/setup', { accept: 'application/json' }),
      await get('/nothing'),
      await app.inject({ method: 'POST', url: '/nothing', headers: { accept: 'text/html' } }),
    ]
    for (const answer of answers) {
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toMatchObject({ success: false, code: 'not_found' })
    }
  })
  it('passes wrong methods to the routes', async () => {
    const response = await browse('/api/v1/things')
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST'])
  })
  it('does not serve files outside its folder', async () => {
    for (const url of [
      '/assets/../index.html',
      '/assets/%2e%2e/index.html',
      '/assets/..%2f..%2fetc%2fpasswd',
    ]) {
      expect((await get(url)).statusCode).toBeGreaterThanOrEqual(400)
    }
  })
  it('explains how to build it when it is missing', async () => {
    const bare = await serve(join(folder, 'missing'))
    for (const url of ['/', '/docs', '/docs/', '/docs/guide']) {
      const response = await bare.inject({ url })
      expect([response.statusCode, response.body]).toEqual([
        200,
        expect.stringContaining('npm run build:web'),
      ])
    }
    await bare.close()
  })
})

import { createServer, type Server } from 'node:https'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { PrivateTargets } from '../../src/setting-values.ts'
import { getSmall } from '../../src/net/http/get-small.ts'
import { mapResolver } from '../resolver.ts'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import { startPlainServer, type TcpServer } from '../servers/tls.ts'

const before = getCACertificates('default')
const { root, intermediate } = makeAuthority()
beforeAll(() => setDefaultCACertificates([...before, root.cert]))
afterAll(() => setDefaultCACertificates(before))

const { key, cert } = makeCertificate({
  subject: '/CN=files.example.test',
  altNames: ['DNS:files.example.test'],
  issuer: intermediate,
})

const open: (Server | TcpServer)[] = []
afterEach(() => {
  for (const server of open.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections()
    void server.close()
  }
})

async function serve(
  listener: RequestListener,
  pem = { key, cert: cert + intermediate.cert },
): Promise<number> {
  const server = createServer(pem, listener)
  open.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

type Wish = { host?: string; allowPrivate?: PrivateTargets; deadline?: number; path?: string }

async function get(
  port: number,
  {
    host = 'files.example.test',
    allowPrivate = true,
    deadline = 3_000,
    path = '/f?x=1',
  }: Wish = {},
) {
  const resolver = mapResolver({ [`${host} A`]: ['127.0.0.1'] })
  return getSmall(
    new URL(`https://${host}:${port}${path}`),
    { resolver, allowPrivate },
    AbortSignal.timeout(deadline),
  )
}

describe('fetching a small file', () => {
  it('returns status, type and bytes, and sends a user agent', async () => {
    let asked: IncomingMessage | undefined
    const port = await serve((request, response) => {
      asked = request
      response.setHeader('content-type', 'text/plain').end('version: STSv1\n')
    })
    const { status, contentType, body } = await get(port)
    expect({ status, contentType, body: body.toString() }).toEqual({
      status: 200,
      contentType: 'text/plain',
      body: 'version: STSv1\n',
    })
    expect(asked).toMatchObject({ method: 'GET', url: '/f?x=1' })
    expect(asked?.headers).toMatchObject({ host: `files.example.test:${port}` })
    expect(asked?.headers['user-agent']).toMatch(/^portreeve\/\d/)
    expect(asked?.headers).not.toHaveProperty('cookie')
  })

  it('does not follow a redirect', async () => {
    let asked = 0
    const port = await serve((_request, response) => {
      asked += 1
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect((await get(port)).status).toBe(302)
    expect(asked).toBe(1)
  })

  it('rejects more than 64 KiB, whatever was announced', async () => {
    const port = await serve((_request, response) => {
      const more = () => response.write('x'.repeat(16_384), () => setImmediate(more))
      response.on('error', () => {})
      more()
    })
    await expect(get(port)).rejects.toMatchObject({ code: 'upstream_rejected' })
  })

  it('accepts exactly 64 KiB', async () => {
    const port = await serve((_request, response) => response.end('x'.repeat(65_536)))
    expect((await get(port)).body).toHaveLength(65_536)
  })

  it('does not connect to an address that may not be reached', async () => {
    let asked = 0
    const port = await serve((_request, response) => response.end(String((asked += 1))))
    await expect(get(port, { allowPrivate: false })).rejects.toMatchObject({
      code: 'target_not_allowed',
    })
    expect(asked).toBe(0)
  })

  it.each([
    ['in the common name only', { subject: '/CN=files.example.test' }],
    ['by a wildcard within a label', { subject: '/O=a', altNames: ['DNS:fi*.example.test'] }],
  ])('does not believe a certificate that has its host %s', async (_where, wish) => {
    const own = makeCertificate({ issuer: intermediate, ...wish })
    const pem = { key: own.key, cert: own.cert + intermediate.cert }
    const port = await serve((_request, response) => response.end('x'), pem)
    await expect(get(port)).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('the certificate is not for files.example.test'),
    })
  })

  it('does not believe a certificate of another name', async () => {
    const port = await serve((_request, response) => response.end('x'))
    await expect(get(port, { host: 'other.example.test' })).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringMatching(/is not for other\.example\.test/),
    })
  })

  it.each([
    ['before the handshake', async () => (await plain('')).port],
    ['before the answer', () => serve(() => {})],
    [
      'in the middle of the body',
      () => serve((_request, response) => void response.writeHead(200).write('half')),
    ],
  ])('gives up in time on a server that falls silent %s', async (_when, start) => {
    const started = performance.now()
    await expect(get(await start(), { deadline: 300 })).rejects.toMatchObject({
      code: 'upstream_timeout',
    })
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it.each([
    ['speaks no TLS', async () => (await plain('HTTP/1.0 200 OK\r\n\r\n')).port],
    ['hangs up', () => serve((request) => void request.socket.destroy())],
    [
      'hangs up in the middle of the body',
      () =>
        serve(
          (request, response) =>
            void response
              .writeHead(200, { 'content-length': 9 })
              .write('half', () => request.socket.destroy()),
        ),
    ],
    [
      'sends headers without end',
      () => serve((_request, response) => void response.setHeader('x', 'y'.repeat(40_000)).end()),
    ],
  ])('says so when the server %s', async (_what, start) => {
    await expect(get(await start())).rejects.toMatchObject({ code: 'upstream_unreachable' })
  })
})

async function plain(greeting: string): Promise<TcpServer> {
  const server = await startPlainServer(greeting)
  open.push(server)
  return server
}

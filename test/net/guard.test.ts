import { afterEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { parseHost } from '../../src/net/address.ts'
import { createResolver } from '../../src/net/dns.ts'
import { checkTarget, openSocket, pin } from '../../src/net/guard.ts'
import { startBlackHole } from '../servers/black-hole.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startPlainServer } from '../servers/tls.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function started<T extends { close(): unknown }>(starting: Promise<T>): Promise<T> {
  const each = await starting
  open.push(each)
  return each
}

const soon = () => AbortSignal.timeout(20_000)

async function target(host: string, allow: string, options: Parameters<typeof startDns>[0] = {}) {
  const dns: DnsServer = await started(startDns(options))
  const resolver = createResolver({ servers: [dns], timeoutMs: 1_000 })
  const { ALLOW_PRIVATE_TARGETS: allowPrivate } = readConfig({ ALLOW_PRIVATE_TARGETS: allow })
  return { dns, checked: checkTarget(parseHost(host), { resolver, allowPrivate }, soon()) }
}

describe('the guard', () => {
  it('lets public addresses through, the families in turns', async () => {
    const records = { 'a.test A': ['8.8.8.8', '8.8.4.4'], 'a.test AAAA': ['2a00:1450::1'] }
    const { checked } = await target('a.test', 'false', { records })
    const addresses = ['2a00:1450::1', '8.8.8.8', '8.8.4.4']
    expect(await checked).toEqual({ host: 'a.test', servername: 'a.test', addresses })
    expect(pin(await checked)).toEqual({ host: '2a00:1450::1', servername: 'a.test' })
  })

  it('accepts an address without a lookup, and without a name for TLS', async () => {
    const { checked, dns } = await target('8.8.8.8', 'false')
    expect(await checked).toEqual({
      host: '8.8.8.8',
      servername: undefined,
      addresses: ['8.8.8.8'],
    })
    expect(dns.queries).toEqual([])
  })

  it.each([
    '127.0.0.1',
    '::1',
    '169.254.169.254',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '100.64.1.1',
  ])('refuses %s', async (address) => {
    const { checked } = await target(address, 'false')
    await expect(checked).rejects.toMatchObject({ code: 'target_not_allowed' })
  })

  it('rejects a name when one of its addresses is private, and names it', async () => {
    const { checked } = await target('a.test', 'false', {
      records: { 'a.test A': ['8.8.8.8', '10.0.0.7'] },
    })
    await expect(checked).rejects.toMatchObject({
      code: 'target_not_allowed',
      message: expect.stringContaining('10.0.0.7, a private address'),
    })
  })

  it('sees the address behind an alias', async () => {
    const records = { 'a.test CNAME': ['b.test'], 'b.test AAAA': ['::1'] }
    const { checked } = await target('a.test', 'false', { records })
    await expect(checked).rejects.toMatchObject({ code: 'target_not_allowed' })
  })

  it.each([
    'localhost',
    'x.localhost',
    'nas.local',
    'db.internal',
    'router.home.arpa',
    'metadata.google.internal',
    'abc.onion',
  ])('does not even look %s up', async (name) => {
    const { checked, dns } = await target(name, 'false', {
      records: { [`${name} A`]: ['8.8.8.8'] },
    })
    await expect(checked).rejects.toMatchObject({ code: 'target_not_allowed' })
    expect(dns.queries).toEqual([])
  })

  it('lets private addresses through where they are allowed', async () => {
    const records = { 'a.internal A': ['10.0.0.7'], 'b.internal A': ['192.168.0.1'] }
    expect(
      (await (await target('a.internal', '10.0.0.0/8', { records })).checked).addresses,
    ).toEqual(['10.0.0.7'])
    await expect(
      (await target('b.internal', '10.0.0.0/8', { records })).checked,
    ).rejects.toMatchObject({
      code: 'target_not_allowed',
    })
    expect((await (await target('b.internal', 'true', { records })).checked).addresses).toEqual([
      '192.168.0.1',
    ])
    expect((await (await target('localhost', 'true')).checked).addresses).toEqual([
      '127.0.0.1',
      '::1',
    ])
  })

  it('distinguishes an unknown host, a missing address and a failed lookup', async () => {
    const options = {
      records: { 'mail.test MX': ['10 mx.test'] },
      behaviours: {
        'broken.test *': 'SERVFAIL',
        'silent.test *': 'silent',
        'half.test AAAA': 'SERVFAIL',
      } as const,
    }
    const sentences: Record<string, object> = {
      'gone.test': { code: 'upstream_unreachable', message: 'Host not found: gone.test.' },
      'mail.test': { code: 'upstream_unreachable', message: 'mail.test has no address.' },
      'broken.test': { code: 'upstream_unreachable', message: expect.stringContaining('SERVFAIL') },
      'silent.test': { code: 'upstream_timeout' },
    }
    for (const [name, fault] of Object.entries(sentences)) {
      await expect((await target(name, 'false', options)).checked).rejects.toMatchObject(fault)
    }
    const half = { ...options, records: { 'half.test A': ['8.8.8.8'] } }
    expect((await (await target('half.test', 'false', half)).checked).addresses).toEqual([
      '8.8.8.8',
    ])
  })
})

const loopback = (...addresses: string[]) => ({ host: 'a.test', servername: 'a.test', addresses })

describe('a connection', () => {
  it('connects to the first checked address that responds', async () => {
    const server = await started(startPlainServer())
    const socket = await openSocket(loopback('127.0.0.9', '127.0.0.1'), server.port, soon())
    expect(socket.remoteAddress).toBe('127.0.0.1')
    socket.destroy()
    expect(server.connections()).toBe(1)
  })

  it('does not wait for an address that swallows packets', async () => {
    const server = await started(startPlainServer())
    await started(startBlackHole('127.0.0.2', server.port))
    const before = performance.now()
    const socket = await openSocket(loopback('127.0.0.2', '127.0.0.1'), server.port, soon())
    expect(socket.remoteAddress).toBe('127.0.0.1')
    expect(performance.now() - before).toBeGreaterThan(200)
    expect(performance.now() - before).toBeLessThan(10_000)
    socket.destroy()
  })

  it('that is refused is reported as refused', async () => {
    const server = await startPlainServer()
    await server.close()
    await expect(
      openSocket(loopback('127.0.0.1', '127.0.0.2'), server.port, soon()),
    ).rejects.toMatchObject({
      code: 'upstream_unreachable',
      message: `Port ${server.port} of a.test refused the connection.`,
    })
  })

  it('that takes too long ends with the deadline', async () => {
    const { port } = await started(startBlackHole('127.0.0.1', 0))
    const before = performance.now()
    const connecting = openSocket(loopback('127.0.0.1'), port, AbortSignal.timeout(200))
    await expect(connecting).rejects.toMatchObject({ code: 'upstream_timeout' })
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  it('is not begun when the deadline has passed', async () => {
    const server = await started(startPlainServer())
    const connecting = openSocket(loopback('127.0.0.1'), server.port, AbortSignal.abort())
    await expect(connecting).rejects.toMatchObject({ code: 'upstream_timeout' })
    expect(server.connections()).toBe(0)
  })
})

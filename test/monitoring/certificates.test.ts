import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { certificateAlert } from '../../src/monitoring/certificates/messages.ts'
import { stateOf, warnAt } from '../../src/monitoring/certificates/check-certificates.ts'
import type { TlsFacts } from '../../src/net/tls/probe-tls.ts'
import { makeCertificate } from '../servers/certificates.ts'
import type { DnsServer } from '../servers/dns.ts'
import type { Sink } from '../servers/mail-sink.ts'
import { startPlace } from './place.ts'
import type { MonitoringTest } from './module.ts'

let dns: DnsServer
let sink: Sink
let portreeve: MonitoringTest
let stop: () => Promise<void>
let server: Server
let test = 0

const NAME = 'www.shop.test'

beforeAll(async () => {
  ;({ portreeve, dns, sink, stop } = await startPlace())
  dns.records[`${NAME} A`] = ['127.0.0.1']
})
afterAll(() => stop())
const portOf = () => (server.address() as AddressInfo).port

const selfSigned = (altName: string, to = 90) =>
  makeCertificate({ subject: `/CN=${altName}`, altNames: [`DNS:${altName}`], from: -90, to })

describe('the certificate of a monitored host', () => {
  beforeEach(async () => {
    test += 1
    sink.mails.length = 0
    await portreeve.become(`Alice${test}`)
    server = createServer(selfSigned(NAME)).on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(() => server.close())

  it('raises no alert at the first check, and one alert for each later change', async () => {
    const port = portOf()
    const host = await portreeve.add(NAME, { tlsPorts: [port], dnsRecords: false })
    const first = await portreeve.seen(host, ({ certificates }) => certificates.length === 1)
    expect(first.certificates).toMatchObject([{ port, state: 'untrusted', daysRemaining: 89 }])
    await portreeve.checked(host)
    expect(await portreeve.alertTitles()).toEqual([])

    server.setSecureContext(selfSigned('other.test'))
    await portreeve.seen(host, ({ certificates }) => certificates[0]?.state === 'wrong-host')
    server.setSecureContext(selfSigned(NAME, -1))
    await portreeve.seen(host, ({ certificates }) => certificates[0]?.state === 'expired')
    await portreeve.checked(host, 3)
    expect(await portreeve.alertTitles()).toEqual([
      `The certificate of ${NAME}, port ${port} is for another host`,
      `The certificate of ${NAME}, port ${port} has expired`,
    ])
    const mail = sink.mails.map(({ text }) => text ?? '').join('\n')
    expect(mail).toContain(`The certificate of ${NAME}, port ${port} is valid for other.test.`)
    expect(mail).toContain('certbot renew')
    expect(await portreeve.history(host, 'kind=certificate')).toMatchObject([
      { name: `Certificate on port ${port}`, from: 'wrong-host', to: 'expired', dnsbl: null },
      { from: 'untrusted', to: 'wrong-host' },
      { from: 'unknown', to: 'untrusted', baseline: true },
    ])
  })

  it('keeps its state while the port is unreachable', async () => {
    const port = portOf()
    const host = await portreeve.add(NAME, { tlsPorts: [port], dnsRecords: false })
    await portreeve.seen(host, ({ certificates }) => certificates.length === 1)
    server.close()
    await portreeve.checked(host, 3)
    expect((await portreeve.read(host.id)).certificates).toMatchObject([{ state: 'untrusted' }])
    expect(await portreeve.alertTitles()).toEqual([])
  })

  it('is removed when its port is no longer monitored', async () => {
    const port = portOf()
    const host = await portreeve.add(NAME, { tlsPorts: [port], dnsRecords: false })
    await portreeve.seen(host, ({ certificates }) => certificates.length === 1)
    await portreeve.call('PATCH', `hosts/${host.id}`, { tlsPorts: [] })
    await portreeve.seen(host, ({ certificates }) => certificates.length === 0)
  })
})

const DAY = 86_400_000
const NOW = new Date('2026-11-21T12:00:00Z')

function facts(life: number, left: number, more: Partial<TlsFacts> = {}): TlsFacts {
  const validTo = new Date(NOW.getTime() + left * DAY)
  const leaf = { validFrom: new Date(validTo.getTime() - life * DAY), validTo }
  return {
    chain: [leaf],
    path: [leaf],
    hostnameMatches: true,
    isTrusted: true,
    ...more,
  } as unknown as TlsFacts
}

describe('the state of a certificate', () => {
  it.each([
    [90, 60, 'valid'],
    [90, 22, 'valid'],
    [90, 20, 'expiring'],
    [90, 4, 'expiring-soon'],
    [90, 0, 'expired'],
    [47, 13, 'valid'],
    [47, 11, 'expiring'],
    [6, 2, 'valid'],
    [6, 1, 'expiring'],
    [6, 0.5, 'expiring-soon'],
    [397, 22, 'valid'],
    [397, 20, 'expiring'],
  ])('of %d days with %d left is %s', (life, left, state) => {
    expect(stateOf(facts(life, left), NOW)).toBe(state)
  })

  it('puts present problems before future ones', () => {
    expect(stateOf(facts(90, 1, { hostnameMatches: false }), NOW)).toBe('wrong-host')
    expect(stateOf(facts(90, 1, { isTrusted: false }), NOW)).toBe('untrusted')
    expect(stateOf(facts(90, 100), NOW)).toBe('not-yet-valid')
  })

  it('is that of the certificate of its path that ends first', () => {
    const issuer = { validFrom: new Date(NOW.getTime() - 900 * DAY), validTo: NOW }
    const ending = (left: number) => ({
      path: [
        ...facts(90, 60).path,
        { ...issuer, validTo: new Date(NOW.getTime() + left * DAY) },
      ] as never,
    })
    expect(stateOf(facts(90, 60, ending(20)), NOW)).toBe('expiring')
    expect(stateOf(facts(90, 60, ending(0)), NOW)).toBe('expired')
    expect(stateOf(facts(90, 60, ending(30)), NOW)).toBe('valid')
  })

  it.each([
    [
      'expiring',
      { endsWith: 'R3' },
      'The issuer certificate “R3” of a.test, port 443 expires in 9 days',
    ],
    ['expired', { endsWith: 'R3' }, 'The issuer certificate “R3” of a.test, port 443 has expired'],
    ['expired', {}, 'The certificate of a.test, port 443 has expired'],
    [
      'untrusted',
      { trustReason: 'It is for clients.' },
      'The certificate of a.test, port 443 is not trusted',
    ],
  ] as const)('%s of %o is an alert', (to, more, title) => {
    const detail = {
      validFrom: '2026-01-01T00:00:00.000Z',
      validTo: new Date(NOW.getTime() + 9.5 * DAY).toISOString(),
      issuer: 'CA',
      names: [],
      fingerprint256: 'A7',
      trustError: to === 'untrusted' ? 'INVALID_PURPOSE' : null,
      ...more,
    }
    const fact = { detail, since: NOW } as never
    const host = { id: '1', host: 'a.test', workspaceId: 'w' } as never
    const alert = certificateAlert(host, { port: 443, from: 'valid', to, fact }, NOW)
    expect(alert.title).toBe(title)
    if ('trustReason' in more)
      expect(alert.text).toContain(`is not trusted (INVALID_PURPOSE). ${more.trustReason}`)
  })

  it('warns earlier the longer it is valid, up to three weeks before it expires', () => {
    expect(warnAt(365 * DAY)).toEqual({ soon: 21 * DAY, verySoon: 5 * DAY })
    expect(warnAt(8 * DAY)).toEqual({ soon: 2 * DAY, verySoon: 0.8 * DAY })
  })
})

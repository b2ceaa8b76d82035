import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DomainContext, Probe, ServiceName } from '../../src/domains/domain-context.ts'
import { createDomainContext, type DomainDeps } from '../../src/domains/domain-context.ts'
import { certificateLines } from '../../src/domains/lines/certificates-line.ts'
import { mtaStsLine } from '../../src/domains/lines/mta-sts-line.ts'
import { gatherMtaSts } from '../../src/diagnostics/mail-auth/mail-auth-facts.ts'
import { Fault } from '../../src/errors.ts'
import { createSmtpReach, smtpReach } from '../../src/net/smtp-reach.ts'
import { DAY_MS } from '../../src/time.ts'
import { mapResolver } from '../resolver.ts'
import { startPlainServer } from '../servers/tls.ts'

const HOSTS = ['one.port.test', 'two.port.test']
const ADDRESSES = ['127.0.0.1', '127.0.0.2']
const records = {
  'port.test MX': HOSTS.map((host) => `10 ${host}`),
  ...Object.fromEntries(HOSTS.map((host, index) => [`${host} A`, [ADDRESSES[index] as string]])),
}

type Wish = {
  /** Where mail servers answered before. */
  lately?: string[]
  /** The error of every connection, in place of real ones. */
  error?: { code: string; address?: string }
  port?: number
}

/** The line about certificates on port 25. */
async function check({ lately = [], error, port = 1 }: Wish) {
  const reach = createSmtpReach(() => true)
  for (const address of lately) reach.note(address)
  const deps = { resolver: mapResolver(records), allowPrivate: true, smtpReach: reach }
  const domain = { kind: 'name', name: 'port.test', unicode: 'port.test' } as const
  const context = createDomainContext(
    domain,
    { ...deps, ports: { smtp: port } } as unknown as DomainDeps,
    AbortSignal.timeout(30_000),
  )
  const probe = async (host: string, _service: ServiceName): Promise<Probe> => ({
    fault: new Fault('upstream_unreachable', `Port 25 of ${host} failed.`, { cause: error }),
  })
  const used: DomainContext = error ? { ...context, probe } : context
  const line = certificateLines.find(({ name }) => name === 'smtp-tls')
  const { state, summary, evidence = [] } = (await line?.check(used)) ?? {}
  return { state, summary, states: evidence.map((each) => each.state) }
}

const FAILURES = ['EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM', 'ETIMEDOUT']
const BLOCKED = 'Many networks block outgoing connections to port 25.'

describe('port 25 that cannot be reached', () => {
  it('is unknown where all refuse, which a provider may do as well', async () => {
    const { state, summary, states } = await check({})
    expect(state).toBe('unknown')
    expect(summary).toBe(
      `one.port.test: Port 1 of one.port.test refused the connection. ${BLOCKED}`,
    )
    expect(states).toEqual(['unknown', 'unknown'])
  })

  it('is bad where one refuses and another answers, with TLS or without', async () => {
    const server = await startPlainServer('220 mail ESMTP\r\n', { hangUp: true })
    const { state, summary, states } = await check({ port: server.port })
    await server.close()
    expect(state).toBe('bad')
    expect(summary).toContain('two.port.test refused the connection.')
    expect(summary).not.toContain(BLOCKED)
    expect(states).toEqual(['unknown', 'bad'])
  })

  it('is bad where all refuse, and a server of another domain answered lately', async () => {
    const { states } = await check({ lately: ['198.51.100.25'] })
    expect(states).toEqual(['bad', 'bad'])
  })

  it('is unknown where only servers with the other version of IP answered', async () => {
    const error = { code: 'ECONNREFUSED', address: '2001:db8::25' }
    expect((await check({ lately: ['198.51.100.25'], error })).state).toBe('unknown')
    expect((await check({ lately: ['2001:db8::1'], error })).state).toBe('bad')
  })

  it.each(FAILURES)('is unknown after %s, whatever is known of the way', async (code) => {
    const blocked = await check({ error: { code } })
    expect(blocked.states).toEqual(['unknown', 'unknown'])
    expect(blocked.summary).toContain(BLOCKED)
    const open = await check({ error: { code }, lately: ['198.51.100.25'] })
    expect(open.states).toEqual(['unknown', 'unknown'])
    expect(open.summary).not.toContain(BLOCKED)
  })
})

describe('an MTA-STS policy that cannot be fetched', () => {
  const zone = { ...records, '_mta-sts.port.test TXT': ['v=STSv1; id=1'] }
  const RESULTS = [
    ['upstream_timeout', 'ETIMEDOUT', 'unknown'],
    ...FAILURES.slice(0, 4).map((reason) => ['upstream_unreachable', reason, 'unknown'] as const),
    ['upstream_unreachable', 'ECONNREFUSED', 'bad'],
    ['upstream_unreachable', 'CERT_HAS_EXPIRED', 'bad'],
  ] as const

  it.each(RESULTS)('after %s (%s) is %s', async (code, reason, state) => {
    const context = createDomainContext(
      { kind: 'name', name: 'port.test', unicode: 'port.test' },
      { resolver: mapResolver(zone), allowPrivate: true } as unknown as DomainDeps,
      AbortSignal.timeout(30_000),
    )
    const mtaSts = () =>
      gatherMtaSts('port.test', context.queries, async () => {
        throw new Fault(code, 'It failed.', { cause: { code: reason } })
      })
    expect(await mtaStsLine.check({ ...context, mtaSts })).toMatchObject({ state })
  })
})

describe('what is known of the way to port 25', () => {
  afterEach(() => void vi.useRealTimers())

  it('is forgotten after two days', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const reach = createSmtpReach(() => true)
    reach.note('198.51.100.25')
    vi.advanceTimersByTime(2 * DAY_MS - 1)
    expect([reach.isOpen(), reach.isOpen('192.0.2.1'), reach.isOpen('2001:db8::1')]).toEqual([
      true,
      true,
      false,
    ])
    vi.advanceTimersByTime(1)
    expect(reach.isOpen()).toBe(false)
  })

  it('does not come from servers in the own network', () => {
    smtpReach.note('127.0.0.1')
    smtpReach.note('192.168.1.25')
    expect(smtpReach.isOpen()).toBe(false)
  })
})

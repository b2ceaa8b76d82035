import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../src/version.ts'
import { until } from '../servers/fail2ban.ts'
import { commandLines, openMachine, requirePackages, type Machine } from '../servers/machine.ts'
import { silence, startReceiver, status, type Receiver } from '../servers/receiver.ts'

const TOKEN = `ar_${'Zz9'.repeat(10)}aa`
const CLIENTS = ['curl', 'wget', 'python3'] as const
const TOOLS = [
  'sh',
  'sed',
  'head',
  'tail',
  'grep',
  'getent',
  'flock',
  'mkdir',
  'mktemp',
  'rm',
  'sleep',
]

let machine: Machine
let service: Receiver
beforeAll(async () => {
  requirePackages('curl', 'wget')
  machine = await openMachine()
  service = await startReceiver(status(200))
  machine.write(
    '/usr/local/sbin/portreeve-report',
    readFileSync(join(ROOT, 'clients/fail2ban/portreeve-report'), 'utf8'),
    0o755,
  )
  machine.write('/etc/portreeve-client/token', `${TOKEN}\n`, 0o600)
  for (const client of CLIENTS) {
    const folder = `/usr/local/only-${client}`
    machine.run(['mkdir', folder])
    for (const tool of [client, ...TOOLS])
      machine.run(['sh', '-c', `ln -s "$(command -v ${tool})" ${folder}/${tool}`])
  }
})
afterAll(async () => {
  await machine?.close()
  await service?.close()
})
afterEach(() => {
  service.received.length = 0
  service.answerWith(status(200))
})

function report(
  args: Partial<Record<'ip' | 'jail' | 'ports' | 'protocol' | 'count', string>>,
  client = 'curl',
) {
  const { ip = '198.51.100.7', jail = 'sshd', ports = 'ssh', protocol = 'tcp', count = '3' } = args
  const url = `${service.origin}/api/v1/abuse/report`
  const env = { PATH: `/usr/local/only-${client}` }
  return machine.runAside(
    ['/usr/local/sbin/portreeve-report', url, ip, jail, ports, protocol, count],
    { env },
  )
}
const sent = () => service.received.map(({ body }) => JSON.parse(body) as unknown)

describe.each(CLIENTS)('a report with nothing but %s', (client) => {
  it('arrives with its token', async () => {
    expect(await report({}, client)).toMatchObject({ status: 0, stderr: '' })
    expect(sent()).toEqual([{ ip: '198.51.100.7', service: 'sshd', count: 3, port: 22 }])
    expect(service.received[0]?.headers).toMatchObject({
      'x-report-token': TOKEN,
      'content-type': 'application/json',
      'user-agent': 'portreeve-report/1',
    })
  })

  it.each([
    ['0', { count: 1 }],
    ['007', { count: 7 }],
    ['250000', { count: 100_000 }],
    ['99999999999999999999', { count: 100_000 }],
    ['x', { count: 1 }],
  ])('sends a count that the service accepts for %s', async (count, expected) => {
    await report({ count }, client)
    expect(sent()).toMatchObject([expected])
  })

  it.each(['0', '65536', '99999999999', 'no-such-port'])('sends no port for %s', async (ports) => {
    await report({ ports }, client)
    expect(sent()).toEqual([{ ip: '198.51.100.7', service: 'sshd', count: 3 }])
  })

  it('tries again after a failure of the service', async () => {
    service.answerWith((response, request) =>
      status(service.received.length === 1 ? 500 : 200)(response, request),
    )
    expect((await report({}, client)).status).toBe(0)
    expect(service.received).toHaveLength(2)
  })

  it('is not repeated after a permanent error', async () => {
    service.answerWith(status(400))
    const { status: exit, stderr } = await report({}, client)
    expect(exit).toBe(1)
    expect(stderr).toContain('was not accepted: the service answered 400')
    expect(service.received).toHaveLength(1)
  })

  it('hides its token while it waits', async () => {
    service.answerWith(silence)
    const waiting = report({}, client)
    await until(() => service.received.length === 1)
    const running = commandLines()
    expect(
      running.filter((line) => line.includes(client) && line.includes(service.origin)),
    ).not.toEqual([])
    expect(running.filter((line) => line.includes(TOKEN))).toEqual([])
    service.answerWith(status(200))
    service.hangUp()
    expect((await waiting).status).toBe(0)
  })

  it('follows no redirect, which would carry the token elsewhere', async () => {
    service.answerWith(status(302, '', { location: `${service.origin}/elsewhere` }))
    expect((await report({}, client)).status).toBe(1)
    expect(service.received.map(({ path }) => path)).toEqual(['/api/v1/abuse/report'])
  })
})

describe('a report', () => {
  it('gives up after three tries within half a minute', async () => {
    service.answerWith(status(429, '', { 'retry-after': '300' }))
    const begin = Date.now()
    expect(await report({})).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the service answered 429'),
    })
    expect(service.received).toHaveLength(3)
    expect(Date.now() - begin).toBeLessThan(30_000)
  }, 40_000)

  it.each([
    ['smtp,465,submission', 25],
    ['8443', 8443],
    ['0:65535', undefined],
    ['no-such-port', undefined],
    ['0', undefined],
  ])('of a jail on ports %s names port %s', async (ports, port) => {
    expect((await report({ ports })).status).toBe(0)
    expect(sent()).toEqual([
      { ip: '198.51.100.7', service: 'sshd', count: 3, ...(port && { port }) },
    ])
  })

  it('finds the name of a udp port', async () => {
    await report({ ports: 'tftp', protocol: 'udp' })
    expect(sent()).toEqual([expect.objectContaining({ port: 69 })])
  })

  it.each([
    { ip: '198.51.100.8"; id' },
    { ip: '$(touch /etc/owned)' },
    { jail: 'ss$(touch /etc/owned)' },
    { jail: 'a","x":"' },
  ])('with %o is not sent', async (args) => {
    expect((await report(args)).status).toBe(2)
    expect(service.received).toEqual([])
    expect(machine.exists('/etc/owned')).toBe(false)
  })

  it('is anonymous without a token, and with one that only looks like a header', async () => {
    for (const token of [null, 'ar_x\\r\\nX-Evil: 1\n', '\n']) {
      machine.run(['rm', '-f', '/etc/portreeve-client/token'])
      if (token !== null) machine.write('/etc/portreeve-client/token', token, 0o600)
      expect((await report({})).status).toBe(0)
    }
    machine.write('/etc/portreeve-client/token', `${TOKEN}\n`, 0o600)
    expect(
      service.received.map(({ headers }) => [headers['x-report-token'], headers['x-evil']]),
    ).toEqual(Array.from({ length: 3 }, () => [undefined, undefined]))
  })

  it('waits for its turn among many, and none is lost', async () => {
    let [now, most] = [0, 0]
    service.answerWith((response) => {
      most = Math.max(most, ++now)
      setTimeout(() => (now--, response.end()), 100)
    })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => report({ ip: `198.51.100.${n}` })),
    )
    expect(outcomes.every((outcome) => outcome.status === 0)).toBe(true)
    // A report whose response comes too late is sent again.
    expect(new Set(service.received.map(({ body }) => body)).size).toBe(40)
    expect(most).toBeLessThanOrEqual(8)
  })
})

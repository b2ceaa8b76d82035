import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { installerScript } from '../../src/fleet/installer/installer.ts'
import {
  attack,
  bansOf,
  openFail2banMachine,
  startServer,
  stopServer,
  until,
} from '../servers/fail2ban.ts'
import { commandLines, type Machine } from '../servers/machine.ts'
import { silence, startReceiver, status, type Receiver } from '../servers/receiver.ts'

const TOKEN = `ar_${'Ab3'.repeat(10)}xY`

describe('a fail2ban that has joined', () => {
  let machine: Machine
  let service: Receiver
  beforeAll(async () => {
    service = await startReceiver(status(200))
    machine = await openFail2banMachine()
    await startServer(machine)
    const script = installerScript(service.origin, { token: TOKEN, block: false })
    expect(machine.run(['sh', '-s', '--', '--yes'], { input: script })).toMatchObject({
      status: 0,
      stderr: '',
    })
  })
  afterAll(async () => {
    await machine?.close()
    await service?.close()
  })
  beforeEach(() => {
    service.received.length = 0
    service.answerWith(status(200))
  })
  const bodies = () => service.received.map(({ body }) => JSON.parse(body) as { ip: string })
  const underWay = () =>
    commandLines().filter((line) => line.includes(`portreeve-report ${service.origin}`))
  const banned = (...addresses: string[]) =>
    addresses.every((address) => bansOf(machine).includes(`sshd tcp ${address}`))

  it('reports the address, the jail, its port and the failures, and nothing of the log lines', async () => {
    attack(machine, 'sshd', ['198.51.100.7'])
    attack(machine, 'postfix-sasl', ['2001:db8:1:2::5'])
    await until(() => service.received.length === 2)
    expect(bodies().toSorted((a, b) => (a.ip < b.ip ? -1 : 1))).toEqual([
      { ip: '198.51.100.7', service: 'sshd', port: 22, count: 3 },
      { ip: '2001:db8:1:2::5', service: 'postfix-sasl', port: 25, count: 3 },
    ])
    expect(service.received[0]).toMatchObject({
      path: '/api/v1/abuse/report',
      headers: { 'x-report-token': TOKEN, 'content-type': 'application/json' },
    })
  })

  it('reports once where a jail bans on tcp and on udp', async () => {
    attack(machine, 'asterisk', ['198.51.100.8'])
    await until(() => bansOf(machine).filter((ban) => ban.startsWith('asterisk')).length === 2)
    expect(bansOf(machine)).toEqual(
      expect.arrayContaining(['asterisk-tcp tcp 198.51.100.8', 'asterisk-udp udp 198.51.100.8']),
    )
    await until(() => service.received.length > 0)
    await sleep(500)
    expect(bodies()).toEqual([{ ip: '198.51.100.8', service: 'asterisk', port: 5060, count: 3 }])
  })

  it('bans without delay when the service does not respond, and hides the token', async () => {
    service.answerWith(silence)
    const attackers = [11, 12, 13, 14].map((n) => `198.51.100.${n}`)
    attack(machine, 'sshd', attackers)
    await until(() => banned(attackers[0] as string))
    const first = Date.now()
    await until(() => banned(...attackers))
    // In the foreground, each report would delay the next ban by the 8 seconds of the helper, all of them by 24.
    expect(Date.now() - first).toBeLessThan(20_000)
    await until(() => service.received.length === 4)
    const running = commandLines()
    expect(
      running.filter((line) => line.startsWith('curl') && line.includes(service.origin)),
    ).toHaveLength(4)
    expect(running.filter((line) => line.includes(TOKEN))).toEqual([])
    service.answerWith(status(200))
    service.hangUp()
  })

  it('bans without delay when nothing listens, and fail2ban logs no error', async () => {
    const jails = machine.read('/etc/fail2ban/action.d/portreeve.conf')
    const dead = jails.replace(/^url = .*/m, 'url = http://127.0.0.1:9/api/v1/abuse/report')
    machine.write('/etc/fail2ban/action.d/portreeve.conf', dead)
    machine.run(['fail2ban-client', 'reload', '--restart'])
    const attackers = [21, 22, 23].map((n) => `198.51.100.${n}`)
    attack(machine, 'sshd', attackers)
    await until(() => banned(attackers[0] as string))
    const first = Date.now()
    await until(() => banned(...attackers))
    expect(Date.now() - first).toBeLessThan(20_000)
    machine.write('/etc/fail2ban/action.d/portreeve.conf', jails)
    machine.run(['fail2ban-client', 'reload', '--restart'])
    const log = machine.read('/var/log/fail2ban.log')
    expect(log).toContain('Ban 198.51.100.23')
    expect(log).not.toMatch(/ERROR/)
  })

  it(
    'reports nothing again after a restart that restores its bans',
    { timeout: 120_000 },
    async () => {
      await until(() => underWay().length === 0)
      service.received.length = 0
      const before = bansOf(machine).length
      const bans = new Set(bansOf(machine))
      await stopServer(machine)
      await startServer(machine)
      await until(() => bans.isSubsetOf(new Set(bansOf(machine).slice(before))))
      attack(machine, 'sshd', ['198.51.100.31'])
      await until(() => banned('198.51.100.31'))
      await until(() => service.received.length > 0 && underWay().length === 0)
      expect(bodies().map(({ ip }) => ip)).toEqual(['198.51.100.31'])
    },
  )
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fail2banConfig, installerScript } from '../../src/fleet/installer/installer.ts'
import { attack, JAILS, openFail2banMachine, startServer, until } from '../servers/fail2ban.ts'
import type { Machine, Outcome } from '../servers/machine.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'

const TOKEN = `ar_${'Qw7'.repeat(10)}pp`
const KEY = `bk_${'Er8'.repeat(10)}qq`
const ACTION = '/etc/fail2ban/action.d/portreeve.conf'
const OUR_JAILS = '/etc/fail2ban/jail.d/zz-portreeve.local'

let machine: Machine
let service: Receiver
beforeAll(async () => {
  service = await startReceiver(status(200))
})
afterAll(() => service?.close())
beforeEach(async () => {
  machine = await openFail2banMachine()
})
afterEach(() => machine.close())

const script = (block = false) => installerScript(service.origin, { token: TOKEN, block })
const install = (args: string[], { text = script(), env = {} } = {}): Promise<Outcome> =>
  machine.runAside(['sh', '-s', '--', ...args], { input: text, env })
const everything = () => machine.snapshot('/etc', '/usr/local', '/var/lib')

describe('the installer', { timeout: 90_000 }, () => {
  it('shows every file in a dry run, but no token, and changes nothing', async () => {
    const before = everything()
    const { status: exit, stdout } = await install(['--dry-run'], { text: script(true) })
    expect(exit).toBe(0)
    for (const file of [
      ACTION,
      OUR_JAILS,
      '/usr/local/sbin/portreeve-report',
      '/etc/portreeve-client/token',
    ])
      expect(stdout).toContain(`+++ ${file}`)
    expect(stdout).not.toContain(TOKEN)
    expect(everything()).toEqual(before)
  })

  it('changes nothing without confirmation when no terminal is available', async () => {
    const before = everything()
    const { status: exit, stderr } = machine.run(['setsid', '-w', 'sh'], { input: script() })
    expect([exit, stderr]).toEqual([3, expect.stringContaining('--yes')])
    expect(everything()).toEqual(before)
  })

  it('installs, changes nothing when repeated, and uninstalls without a trace', async () => {
    const before = everything()
    expect(await install(['--yes'], { text: script(true) })).toMatchObject({ status: 0 })
    expect(machine.mode('/etc/portreeve-client/token')).toBe('600')
    expect(machine.mode('/usr/local/sbin/portreeve-report')).toBe('755')
    expect(machine.mode(OUR_JAILS)).toBe('644')
    const installed = everything()
    expect(await install(['--yes'], { text: script(true) })).toMatchObject({
      status: 0,
      stdout: 'reported: asterisk postfix-sasl sshd \nalready installed and up to date\n',
    })
    expect(everything()).toEqual(installed)
    expect((await install(['--uninstall', '--dry-run'])).stdout).toContain(`remove ${ACTION}`)
    expect(everything()).toEqual(installed)
    expect(await install(['--uninstall', '--yes'])).toMatchObject({ status: 0, stderr: '' })
    expect(everything()).toEqual(before)
    expect((await install(['--uninstall', '--yes'])).stdout).toBe('not installed; nothing to do\n')
  })

  it('starts the timer where there is systemd, and stops it at the end', async () => {
    machine.run(['mkdir', '-p', '/run/systemd/system'])
    machine.write('/usr/local/bin/systemctl', '#!/bin/sh\necho "$*" >>/run/systemctl\n', 0o755)
    // An API token, which is no report token, is not taken for one.
    const env = { PORTREEVE_KEY: KEY, PORTREEVE_TOKEN: `prv_${'x'.repeat(46)}` }
    const { status: code, stdout } = await install(['--yes'], { text: script(true), env })
    expect([code, stdout.includes(KEY)]).toEqual([0, false])
    expect(machine.mode('/etc/portreeve-client/key')).toBe('600')
    expect(machine.exists('/etc/systemd/system/portreeve-blocklist.timer')).toBe(true)
    expect(machine.exists('/etc/cron.d/portreeve-blocklist')).toBe(false)
    await install(['--uninstall', '--yes'])
    expect(machine.read('/run/systemctl').trim().split('\n')).toEqual([
      'daemon-reload',
      'enable --now portreeve-blocklist.timer',
      'enable portreeve-blocklist-follow.service',
      'restart portreeve-blocklist-follow.service',
      'disable --now portreeve-blocklist.timer',
      'disable --now portreeve-blocklist-follow.service',
      'stop portreeve-blocklist.service',
      'daemon-reload',
    ])
  })

  it('never blocks the address that it is run from', async () => {
    const env = { SSH_CONNECTION: '45.60.0.2 50000 45.9.20.1 22' }
    await install(['--yes'], { text: script(true), env })
    expect(machine.read('/etc/portreeve-client/allow.list')).toMatch(/^45\.60\.0\.2$/m)
    machine.write('/etc/portreeve-client/allow.list', '45.60.0.9\n')
    expect((await install(['--yes'], { text: script(true) })).stdout).toContain(
      'already installed and up to date\n',
    )
    expect(machine.read('/etc/portreeve-client/allow.list')).toBe('45.60.0.9\n')
  })

  it('adds later jails, and lists those it does not recognize', async () => {
    await install(['--yes'])
    machine.write('/etc/fail2ban/jail.local', `${JAILS}${OWN_JAIL}`)
    expect((await install(['--yes'])).stdout).toMatch(
      /not reported: my-login is .*\nalready installed/,
    )
    machine.write('/etc/portreeve-client/jails.map', 'my-login ssh\n')
    const { stdout } = await install(['--yes'])
    expect(stdout).toContain('+[my-login]')
    expect(machine.read(OUR_JAILS)).toContain('portreeve[service="ssh", port=')
    expect(machine.read(OUR_JAILS)).not.toContain('recidive')
  })

  it('keeps the actions that the owner gave a jail', async () => {
    machine.write(
      '/etc/fail2ban/jail.local',
      JAILS.replace('[sshd]\n', '[sshd]\naction = %(action_mwl)s\n'),
    )
    await install(['--yes'])
    const { stdout } = machine.run(['fail2ban-client', '-d'])
    const actions = [...stdout.matchAll(/'sshd', 'addaction', '([^']+)'/g)].map(([, name]) => name)
    expect(actions).toEqual(['note', 'sendmail-whois-lines', 'portreeve'])
  })

  it('changes nothing when fail2ban’s own configuration is broken', async () => {
    machine.write('/etc/fail2ban/jail.local', `${JAILS}\n[sshd\nenabled = maybe\n`)
    const before = everything()
    const { status: exit, stderr } = await install(['--yes'])
    expect([exit, stderr]).toEqual([1, expect.stringContaining('nothing was changed')])
    expect(everything()).toEqual(before)
  })

  it('changes nothing when a jail would have an action twice, which fail2ban’s own test does not see', async () => {
    await install(['--yes'])
    machine.run(['rm', OUR_JAILS])
    machine.write(
      '/etc/fail2ban/jail.d/own.local',
      '[sshd]\naction = note\n         portreeve[port="1"]\n',
    )
    const before = everything()
    const { status: exit, stderr } = await install(['--yes'])
    expect([exit, stderr]).toEqual([1, expect.stringContaining('twice; nothing was changed')])
    expect(everything()).toEqual(before)
  })

  it('restores the old files when the server does not reload', async () => {
    await startServer(machine)
    const client = '#!/bin/sh\ncase "$*" in *reload*) echo "it is broken" >&2; exit 1;; esac\nexec /usr/bin/fail2ban-client "$@"\n' // prettier-ignore
    machine.write('/usr/local/bin/fail2ban-client', client, 0o755)
    const before = machine.snapshot('/etc', '/usr/local')
    const { status: exit, stderr } = await install(['--yes'])
    expect([exit, stderr]).toEqual([1, expect.stringContaining('the old configuration is back')])
    expect(machine.snapshot('/etc', '/usr/local')).toEqual(before)

    machine.run(['rm', '/usr/local/bin/fail2ban-client'])
    await install(['--yes'])
    machine.write('/usr/local/bin/fail2ban-client', client, 0o755)
    machine.write('/etc/fail2ban/jail.local', `${JAILS}${OWN_JAIL}`)
    machine.write('/etc/portreeve-client/jails.map', 'my-login ssh\n')
    const joined = machine.snapshot('/etc', '/usr/local')
    expect((await install(['--yes'])).status).toBe(1)
    expect(machine.snapshot('/etc', '/usr/local')).toEqual(joined)
  })

  it('joins a running server within a minute, and a ban is reported', async () => {
    await startServer(machine)
    service.received.length = 0
    const begin = Date.now()
    expect(await install(['--yes'])).toMatchObject({ status: 0, stderr: '' })
    attack(machine, 'sshd', ['198.51.100.77'])
    await until(() => service.received.length > 0)
    expect(Date.now() - begin).toBeLessThan(60_000)
    expect(await install(['--uninstall', '--yes'])).toMatchObject({ status: 0, stderr: '' })
    attack(machine, 'sshd', ['198.51.100.78'])
    await until(() => machine.read('/var/log/bans').includes('198.51.100.78'))
    expect(service.received).toHaveLength(1)
  })

  it('does nothing when its download broke off, wherever that was', async () => {
    const text = script()
    const before = everything()
    const ends = [...text.matchAll(/\n/g)]
      .map(({ index }) => index)
      .filter((_, line) => line % 9 === 0)
    const cuts = [...ends, ...Array.from({ length: 18 }, (_, n) => text.length - 2 - n)]
    for (const cut of cuts) await install(['--yes'], { text: text.slice(0, cut) })
    expect(cuts.length).toBeGreaterThan(60)
    expect(everything()).toEqual(before)
    expect((await install(['--dry-run'], { text: text.slice(0, -1) })).stdout).toContain('dry run')
  })

  it('reads a token from a file, and rejects an invalid one', async () => {
    const text = installerScript(service.origin, { block: false })
    machine.write('/run/token', `${TOKEN}\n`, 0o600)
    machine.write('/run/nonsense', `ar_${'a'.repeat(30)}";id\n`, 0o600)
    expect(await install(['--yes', '--token-file', '/run/nonsense'], { text })).toMatchObject({
      status: 2,
    })
    machine.write('/run/key', `${KEY}\n`, 0o600)
    expect((await install(['--yes', '--key-file', '/run/token'], { text })).status).toBe(2)
    expect((await install(['--yes', '--key-file', '/run/key'], { text })).status).toBe(2)
    expect(await install(['--yes', '--token-file', '/run/token'], { text })).toMatchObject({
      status: 0,
    })
    expect(machine.read('/etc/portreeve-client/token')).toBe(`${TOKEN}\n`)
    expect((await install(['--yes'], { text })).stdout).toContain('already installed')
  })
})

describe('the configuration for installing by hand', () => {
  it('is accepted by fail2ban, which reports with it', { timeout: 60_000 }, async () => {
    const parts = fail2banConfig(service.origin).split(/^#{78}\n# (\/\S+).*\n#{78}\n\n/m)
    for (let n = 1; n < parts.length; n += 2)
      machine.write(parts[n] as string, parts[n + 1] as string, 0o755)
    expect(machine.run(['fail2ban-client', '-t']).status).toBe(0)
    service.received.length = 0
    await startServer(machine)
    attack(machine, 'asterisk', ['198.51.100.79'])
    await until(() => service.received.length > 0)
    expect(JSON.parse(service.received[0]?.body ?? '')).toMatchObject({
      service: 'asterisk',
      port: 5060,
    })
  })
})

const OWN_JAIL = `
[my-login]
enabled = true
filter = sshd
port = 2222
logpath = /var/log/auth.log

[recidive]
enabled = true
logpath = /var/log/auth.log
`

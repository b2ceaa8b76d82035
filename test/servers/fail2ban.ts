import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMachine, requirePackages, type Machine } from './machine.ts'

export const JAILS = `[DEFAULT]
banaction = note
backend = polling
findtime = 600
maxretry = 3

[sshd]
enabled = true
logpath = /var/log/auth.log

[postfix-sasl]
enabled = true
logpath = /var/log/mail.log

[asterisk]
enabled = true
logpath = /var/log/asterisk.log
maxretry = 3
`

/** Replaces the firewall: records banned addresses permanently. */
const NOTE = `[Definition]
actionban = echo "<name> <protocol> <ip>" >>/var/log/bans
[Init]
protocol = tcp
`

const LOGS = { sshd: 'auth', 'postfix-sasl': 'mail', asterisk: 'asterisk' } as const
export type JailName = keyof typeof LOGS

/** Lines as the daemons write them. */
const LINES: Record<JailName, (address: string, now: Date) => string> = {
  sshd: (ip, now) =>
    `${syslogTime(now)} host sshd[4711]: Failed password for root from ${ip} port 40022 ssh2`,
  'postfix-sasl': (ip, now) =>
    `${syslogTime(now)} host postfix/smtpd[4712]: warning: unknown[${ip}]: SASL LOGIN authentication failed: UGFzc3dvcmQ6`,
  asterisk: (ip, now) =>
    `[${isoTime(now)}] NOTICE[4713]: chan_sip.c:28468 handle_request_register: Registration from '"100" <sip:100@host>' ` +
    `failed for '${ip}:5060' - Wrong password`,
}

/**
 * A machine with Debian's fail2ban, three jails, and a ban action that leaves the firewall alone.
 * @param network also a network of its own
 */
export async function openFail2banMachine({ network = false } = {}): Promise<Machine> {
  requirePackages('fail2ban', 'curl', 'wget')
  const machine = await openMachine({ network })
  machine.write('/etc/fail2ban/jail.local', JAILS)
  machine.write('/etc/fail2ban/action.d/note.conf', NOTE)
  machine.write('/etc/fail2ban/jail.d/defaults-debian.conf', '')
  for (const log of Object.values(LOGS)) machine.write(`/var/log/${log}.log`, '')
  return machine
}

/** Starts the server in its usual places, and waits until it answers. */
export async function startServer(machine: Machine): Promise<void> {
  machine.start(['fail2ban-server', '-xf', 'start'])
  await until(() => machine.run(['fail2ban-client', 'ping']).status === 0)
}

export async function stopServer(machine: Machine): Promise<void> {
  machine.run(['fail2ban-client', 'stop'])
  await until(() => machine.run(['fail2ban-client', 'ping']).status !== 0)
}

/** Lets strangers fail three times each, in turn. */
export function attack(machine: Machine, jail: JailName, addresses: string[]): void {
  const lines = [1, 2, 3].flatMap(() =>
    addresses.map((address) => LINES[jail](address, new Date())),
  )
  appendFileSync(`/proc/${machine.pid}/root/var/log/${LOGS[jail]}.log`, `${lines.join('\n')}\n`)
}

/** What the ban action wrote down: `jail protocol address`, in the order of the bans. */
export function bansOf(machine: Machine): string[] {
  return machine.exists('/var/log/bans')
    ? machine.read('/var/log/bans').split('\n').slice(0, -1)
    : []
}

const PATIENCE_MS = 60_000

/** @throws Error when it does not become true within a minute */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE_MS
  while (!condition()) {
    if (Date.now() > end)
      throw new Error(`this did not happen within ${PATIENCE_MS} ms: ${String(condition)}`)
    await sleep(50)
  }
}

function syslogTime(now: Date): string {
  const month = now.toLocaleString('en', { month: 'short' })
  return `${month} ${String(now.getDate()).padStart(2)} ${now.toTimeString().slice(0, 8)}`
}

function isoTime(now: Date): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())} ${now.toTimeString().slice(0, 8)}`
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { ROOT } from '../../src/version.ts'
import { openMachine, type Machine } from './machine.ts'

/** The service’s address in the network, and that of the attackers’ machine. */
export const SERVICE = '45.9.20.254'
const PORT = 8080
/** The attackers’ machine in IPv6. */
export const ATTACKER6 = '2a00:1450:9:1::1'
export const REPORTS_URL = `http://${SERVICE}:${PORT}`
export const BLOCKER = '/usr/local/sbin/portreeve-blocklist'

/** A network of its own: machines on one switch, a service, and a machine that attacks. */
export type FleetNetwork = {
  /** Connects a machine that was opened with `network`. @returns its IPv6 address */
  connect(machine: Machine, address: string): string
  /** Lets a machine follow the fleet list. @returns stops it */
  follow(machine: Machine, key: string, options?: FollowOptions): () => void
  /** Tries a new TCP connection from one of the attackers: `let in`, `dropped`, or an error. */
  knock(from: string, to: string): Promise<string>
  close(): Promise<void>
}

/** `env` of the program, such as SSH_CONNECTION, and seconds between polls while it has no stream. */
type FollowOptions = { env?: Record<string, string>; backend?: 'nftables' | 'ipset'; poll?: number }

/** No server listens there: allowed clients get a reset, dropped ones no response. */
const KNOCK = `import socket, sys
try:
    socket.create_connection((sys.argv[2], 7000), 1, (sys.argv[1], 0))
except ConnectionRefusedError:
    print("let in")
except socket.timeout:
    print("dropped")`

/**
 * @param attackers addresses of the machine that attacks
 * @param serverOf the HTTP server that receives connections to `REPORTS_URL`; undefined while there
 *   is none
 */
export async function openFleetNetwork(
  attackers: string[],
  serverOf: () => Server | undefined,
): Promise<FleetNetwork> {
  const hub = await openMachine({ network: true })
  const outside = await openMachine({ network: true })
  sh(
    hub,
    `ip link add hub type bridge && ip link set hub up && ip address add ${SERVICE}/16 dev hub`,
  )
  let links = 0

  function connect(machine: Machine, addresses: string[]): string {
    const name = `port${(links += 1)}`
    const adds = addresses.map((address) => `ip address add ${address}/16 dev wire`).join(' && ')
    sh(hub, `ip link add ${name} type veth peer name wire netns ${machine.pid}`)
    sh(hub, `ip link set ${name} master hub up`)
    const ipv6 = `2a00:1450:9:${links}::1`
    sh(machine, `${adds} && ip address add ${ipv6}/48 dev wire nodad && ip link set wire up`)
    return ipv6
  }

  connect(outside, attackers)
  const child = spawn(
    '/usr/bin/nsenter',
    ['-t', String(hub.pid), '-n', process.execPath, join(import.meta.dirname, 'fleet-network.child.ts'), SERVICE, String(PORT)], // prettier-ignore
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { PATH: process.env['PATH'] } },
  )
  child.on('message', (_message, socket: Socket | undefined) => {
    const server = serverOf()
    if (socket && server?.listening) {
      server.emit('connection', socket)
      socket.resume()
    } else socket?.destroy()
  })
  await once(child, 'message')

  return {
    connect: (machine, address) => connect(machine, [address]),
    follow(machine, key, { env = {}, backend = 'nftables', poll = 10 } = {}) {
      const program = readFileSync(join(ROOT, 'clients/fail2ban/portreeve-blocklist'), 'utf8')
      machine.write(BLOCKER, program.replace(/^POLL = 10\b/m, `POLL = ${poll}`), 0o755)
      machine.write('/etc/portreeve-client/key', `${key}\n`, 0o600)
      const fleet = `[fleet]\nurl = ${REPORTS_URL}/api/v1/abuse/fleet\nbackend = ${backend}\n`
      machine.write('/etc/portreeve-client/blocklist.conf', fleet)
      const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
      const running = machine.start(['env', ...given, BLOCKER, 'follow'])
      running.stdout?.resume()
      running.stderr?.resume()
      return () => void running.kill('SIGKILL')
    },
    async knock(from, to) {
      const { stdout, stderr } = await outside.runAside(['python3', '-c', KNOCK, from, to])
      return stdout.trim() || stderr
    },
    async close() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      await outside.close()
      await hub.close()
    },
  }
}

/** The addresses that a machine blocks now. The service in this process goes on meanwhile. */
export async function blockedBy(machine: Machine): Promise<string[]> {
  const list = ['nft', '-j', 'list', 'table', 'inet', 'portreeve_fleet']
  const { status, stdout } = await machine.runAside(list)
  if (status !== 0) return []
  type Parts = { nftables: { set?: { elem?: { elem: { val: string } }[] } }[] }
  const { nftables }: Parts = JSON.parse(stdout)
  const elements = nftables.flatMap(({ set }) => set?.elem ?? [])
  return elements.map(({ elem }) => elem.val).toSorted()
}

function sh(machine: Machine, command: string): void {
  const { status, stderr } = machine.run(['sh', '-c', command])
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
}

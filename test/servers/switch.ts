import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { librariesOf, unpacked } from './debian-package.ts'
import { requirePackages } from './machine.ts'

export type SwitchedMachine = {
  /** Ends all its processes at once, and its network with them. */
  kill(): Promise<void>
}

/** A network of namespaces that no other process sees, with machines on one switch. */
export type Switch = {
  /** Starts a machine that runs a script with `sh`. Its processes end with it. */
  connect(address: string, script: string): Promise<SwitchedMachine>
  /** Starts HAProxy at the switch: it reaches every machine, also those that are cut off. */
  startProxy(configuration: string): void
  /** Lets packets between one machine and others vanish, in both directions. */
  cut(address: string, others: string[]): void
  heal(address: string, others: string[]): void
  /** The last lines of the proxy. */
  said(): string
  close(): Promise<void>
}

/** Options of setpriv: the program is killed when this process ends, however it ends. */
const WITH_THIS = ['--pdeathsig', 'KILL']

/** No machine has it. */
const NOBODY = '02:00:00:00:00:01'

/** Needs root. */
export async function openSwitch(ownAddress: string): Promise<Switch> {
  requirePackages('iproute2')
  const set = `ip link set lo up && ip link add lan type bridge && ip address add ${ownAddress}/24 dev lan && ip link set lan up`
  const hub = await openNamespace(`${set} && echo ready && exec sleep infinity`)
  const pids = new Map<string, number>()
  let ports = 0
  let proxy: ChildProcess | undefined
  let output = ''

  const within = (pid: number, command: string[]) =>
    execFileSync('/usr/bin/nsenter', ['-t', String(pid), '-n', ...command], { stdio: 'pipe' })
  const route = (from: string, to: string, isCut: boolean) => {
    const pid = pids.get(from)
    if (pid === undefined) return
    if (isCut)
      within(pid, ['ip', 'neigh', 'replace', to, 'lladdr', NOBODY, 'dev', 'wire', 'nud', 'permanent']) // prettier-ignore
    else within(pid, ['ip', 'neigh', 'del', to, 'dev', 'wire'])
  }
  const between = (address: string, others: string[], isCut: boolean) => {
    for (const other of others) {
      route(address, other, isCut)
      route(other, address, isCut)
    }
  }

  return {
    async connect(address, script) {
      const machine = await openNamespace(
        `ip link set lo up && echo ready && read wired\n${script}`,
      )
      const pid = machine.pid as number
      const port = `port${(ports += 1)}`
      within(hub.pid as number, ['ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'wire', 'netns', String(pid)]) // prettier-ignore
      within(hub.pid as number, ['ip', 'link', 'set', port, 'master', 'lan', 'up'])
      within(pid, ['ip', 'address', 'add', `${address}/24`, 'dev', 'wire'])
      within(pid, ['ip', 'link', 'set', 'wire', 'up'])
      machine.stdin?.end('wired\n')
      pids.set(address, pid)
      return {
        async kill() {
          if (pids.get(address) === pid) pids.delete(address)
          await end(machine)
        },
      }
    },
    startProxy(configuration) {
      const haproxy = unpacked('haproxy')
      const command = [join(haproxy, 'usr/sbin/haproxy'), '-db', '-f', configuration]
      const enter = ['/usr/bin/nsenter', '-t', String(hub.pid), '-n']
      proxy = spawn('/usr/bin/setpriv', [...WITH_THIS, ...enter, ...command], {
        env: { LD_LIBRARY_PATH: librariesOf(haproxy) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const stream of [proxy.stdout, proxy.stderr])
        stream?.setEncoding('utf8').on('data', (said: string) => (output = (output + said).slice(-4_000))) // prettier-ignore
    },
    cut: (address, others) => between(address, others, true),
    heal: (address, others) => between(address, others, false),
    said: () => output,
    async close() {
      if (proxy) await end(proxy)
      await end(hub)
    },
  }
}

/** Starts a shell that is the first process of its own namespaces, and waits until it is ready. */
async function openNamespace(script: string): Promise<ChildProcess> {
  const namespaces = ['-n', '-m', '-p', '--fork', '--mount-proc', '--kill-child=SIGKILL']
  const unshare = ['/usr/bin/unshare', ...namespaces]
  const holder = spawn('/usr/bin/setpriv', [...WITH_THIS, ...unshare, 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  return holder
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

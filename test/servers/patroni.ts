import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { unprivilegedUser } from '../../src/store/embedded/database-user.ts'
import { haproxyConfiguration, nodeConfiguration, nodeScript } from './patroni-files.ts'
import { execute } from './postgres.ts'
import { openSwitch, type Switch, type SwitchedMachine } from './switch.ts'

export const NODES = ['one', 'two', 'three'] as const
export type NodeName = (typeof NODES)[number]

/** Three machines with PostgreSQL 15, Patroni and etcd on a switch, with HAProxy in front. */
export type Cluster = {
  /** Through HAProxy to the leader. */
  proxiedUrl: string
  /** With the three servers as hosts, for a client that finds the leader itself. */
  hostsUrl: string
  /** Directly to one server. */
  urlOf(node: NodeName): string
  /** The leader, as the other nodes (or those named) see it; null while there is none. */
  leader(...of: NodeName[]): Promise<NodeName | null>
  /**
   * Waits until every node is the leader or streams from it. With synchronous replication, Patroni
   * has also recorded which standby may take over: without one, none does.
   */
  isWhole(): Promise<void>
  /** Kills all processes of a machine at once. */
  kill(node: NodeName): Promise<void>
  /** Starts a killed machine again, with its disk. */
  revive(node: NodeName): Promise<void>
  /** Cuts a node from the other two. Clients reach all three. */
  cut(node: NodeName): void
  heal(node: NodeName): void
  /** Restarts PostgreSQL of a node; waits for it. */
  restart(node: NodeName): Promise<void>
  /** Hands the lead over without a failure. */
  switchOver(from: NodeName): Promise<void>
  setSynchronous(isSynchronous: boolean): Promise<void>
  stop(): Promise<void>
}

const DATABASE = 'portreeve'

/** Starts it with synchronous replication. Needs root, and Debian’s postgresql-15 and iproute2. */
export async function startCluster(): Promise<Cluster> {
  let isSynchronous = true
  // Paths of Unix sockets are limited to 107 bytes.
  const folder = mkdtempSync(join(process.env['TMPDIR'] ?? '/tmp', 'patroni-'))
  const user = unprivilegedUser()
  const folderOf = (node: NodeName) => join(folder, node)
  for (const path of [folder, ...NODES.map(folderOf)]) {
    mkdirSync(path, { recursive: true, mode: 0o755 })
    chownSync(path, user.uid, user.gid)
  }
  mkdirSync(join(folder, 'leader'))
  const addresses = Object.fromEntries(
    NODES.map((node, n) => [node, `10.77.0.${n + 1}`]),
  ) as Record<NodeName, string>
  const lan: Switch = await openSwitch('10.77.0.254')
  const machines = new Map<NodeName, SwitchedMachine>()

  async function start(node: NodeName): Promise<void> {
    const file = join(folderOf(node), 'patroni.json')
    writeFileSync(file, nodeConfiguration(node, { addresses, folder: folderOf(node) }))
    const script = nodeScript(node, { addresses, folder: folderOf(node), file, user })
    machines.set(node, await lan.connect(addresses[node], script))
  }

  await Promise.all(NODES.map(start))
  const configuration = join(folder, 'haproxy.cfg')
  writeFileSync(configuration, haproxyConfiguration(addresses, folder))
  lan.startProxy(configuration)

  const hostOf = (name: string) => join(folder, name)
  const url = (hosts: string) => `postgres://postgres:secret@/${DATABASE}?host=${hosts}`
  const ask = (node: NodeName, path: string, method = 'GET', body?: unknown) =>
    askPatroni(join(folder, node, 'api'), path, method, body)
  const leader = async (...of: NodeName[]): Promise<NodeName | null> => {
    for (const node of of.length > 0 ? of : NODES)
      if ((await ask(node, '/primary'))?.status === 200) return node
    return null
  }

  async function isWhole(): Promise<void> {
    let seen = ''
    for (let tries = 0; tries < 600; tries++) {
      const by = (await leader()) ?? 'one'
      seen = (await ask(by, '/cluster'))?.body ?? ''
      const { members = [] } = JSON.parse(seen || '{}') as {
        members?: { role: string; state: string }[]
      }
      const hasSuccessor = members.some(({ role }) => role === 'sync_standby')
      const isUp = members.every(({ state }) => state === 'running' || state === 'streaming')
      const isComplete = members.length === NODES.length && isUp && hasSuccessor === isSynchronous
      if (isComplete && (await areStreaming(by))) return
      await sleep(200)
    }
    throw new Error(`the cluster does not become whole: ${seen}\n${lan.said()}`)
  }

  /** Patroni calls a standby running before it streams. */
  async function areStreaming(node: NodeName): Promise<boolean> {
    const { replication = [] } = JSON.parse((await ask(node, '/patroni'))?.body ?? '{}') as {
      replication?: { state: string; sync_state: string }[]
    }
    return replication.filter(({ state }) => state === 'streaming').length === NODES.length - 1
  }

  await isWhole()
  await execute(url(hostOf('leader')).replace(`/${DATABASE}?`, '/postgres?'), `create database ${DATABASE}`) // prettier-ignore

  return {
    proxiedUrl: url(hostOf('leader')),
    hostsUrl: `${url(NODES.map(hostOf).join(','))}&target_session_attrs=read-write`,
    urlOf: (node) => url(hostOf(node)),
    leader,
    isWhole,
    async kill(node) {
      await machines.get(node)?.kill()
      machines.delete(node)
    },
    revive: start,
    cut: (node) => lan.cut(addresses[node], others(node).map((other) => addresses[other])), // prettier-ignore
    heal: (node) => lan.heal(addresses[node], others(node).map((other) => addresses[other])), // prettier-ignore
    async restart(node) {
      const answer = await ask(node, '/restart', 'POST', {})
      if (answer?.status !== 200) throw new Error(`restart of ${node}: ${answer?.body}`)
    },
    async switchOver(from) {
      const answer = await ask(from, '/switchover', 'POST', { leader: from })
      if (answer?.status !== 200) throw new Error(`switchover from ${from}: ${answer?.body}`)
    },
    async setSynchronous(wanted) {
      await ask((await leader()) ?? 'one', '/config', 'PATCH', { synchronous_mode: wanted })
      isSynchronous = wanted
      await isWhole()
    },
    async stop() {
      await Promise.all([...machines.values()].map((machine) => machine.kill()))
      await lan.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const others = (node: NodeName) => NODES.filter((other) => other !== node)

/** Asks Patroni’s REST API through a Unix socket; null when there is no answer. */
function askPatroni(
  socketPath: string,
  path: string,
  method: string,
  body: unknown,
): Promise<{ status: number; body: string } | null> {
  return new Promise((resolve) => {
    const timeout = method === 'GET' ? 2_000 : 60_000
    const sent = request({ socketPath, path, method, timeout }, (answer) => {
      text(answer).then(
        (said) => resolve({ status: answer.statusCode ?? 0, body: said }),
        () => resolve(null),
      )
    })
    sent.on('timeout', () => sent.destroy()).on('error', () => resolve(null))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRoot, spawnAs, unprivilegedUser } from '../../src/store/embedded/database-user.ts'
import { freePort } from '../free-port.ts'
import { answers, DEBIAN_15, execute } from './postgres.ts'

type PostgresNode = {
  port: number
  /** Of the superuser, to the database `postgres`. */
  url: string
  /** Stops all its processes in place: connections stay open, and nothing answers. */
  freeze(): void
}

export type PostgresPair = {
  primary: PostgresNode
  standby: PostgresNode & { promote(): Promise<void> }
  stop(): Promise<void>
}

const SETTINGS = ['fsync=off', 'shared_buffers=32MB', 'wal_level=replica', 'hot_standby=on']

/** Starts Debian's PostgreSQL 15 and a standby that streams from it, on ports of 127.0.0.1. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-pair-'))
  const user = isRoot() ? unprivilegedUser() : null
  if (user) chownSync(folder, user.uid, user.gid)
  const servers: ChildProcess[] = []
  const spawn = (program: string, args: string[]) =>
    spawnAs(user, [join(DEBIAN_15, program), ...args], [folder], { stdio: 'ignore' })
  const run = async (program: string, args: string[]) => {
    const [code] = (await once(spawn(program, args), 'exit')) as [number | null]
    if (code !== 0) throw new Error(`${program} ended with ${code}`)
  }
  const start = async (name: string): Promise<PostgresNode> => {
    const port = await freePort()
    const settings = [
      ...SETTINGS,
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${folder}`,
    ]
    const server = spawn('postgres', [
      '-D',
      join(folder, name),
      ...settings.flatMap((text) => ['-c', text]),
    ])
    servers.push(server)
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    await answers(url)
    return { port, url, freeze: () => pidsOf(server.pid ?? 0).forEach(stopInPlace) }
  }

  await run('initdb', ['-D', join(folder, 'one'), '-U', 'postgres', '-A', 'trust', '-N'])
  const primary = await start('one')
  const copy = ['-D', join(folder, 'two'), '-d', primary.url, '-R', '-c', 'fast', '--no-sync']
  await run('pg_basebackup', copy)
  const standby = await start('two')
  return {
    primary,
    standby: { ...standby, promote: () => execute(standby.url, 'select pg_promote()') },
    async stop() {
      for (const server of servers) {
        for (const pid of pidsOf(server.pid ?? 0)) process.kill(pid, 'SIGKILL')
        if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      }
      rmSync(folder, { recursive: true })
    },
  }
}

const stopInPlace = (pid: number) => process.kill(pid, 'SIGSTOP')

/** A server and its children, the server first. */
function pidsOf(server: number): number[] {
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8')
  return [server, ...children.split(' ').filter(Boolean).map(Number)]
}

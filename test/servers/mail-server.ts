import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { isRoot, unprivilegedUser, type User } from '../../src/store/embedded/database-user.ts'
import { makeCertificate, type Certified } from './certificates.ts'

/** A real IMAP server of its own in a temporary folder. */
export type MailServer = {
  host: '127.0.0.1'
  port: number
  /** The same server with TLS and a self-signed certificate for `localhost`. */
  tlsPort: number
  addUser(name: string, password: string): Promise<void>
  stop(): Promise<void>
}

/** Whom a server runs as when we are root. */
export function serverUser(): User | null {
  return isRoot() ? unprivilegedUser() : null
}

/** A folder for the server to live in. */
export function serverFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `portreeve-${name}-`))
}

/** Gives the folder and all in it to the server's user. */
export function handOver(folder: string): void {
  const user = serverUser()
  if (!user) return
  for (const path of readdirSync(folder, { recursive: true }))
    chownSync(join(folder, String(path)), user.uid, user.gid)
  chownSync(folder, user.uid, user.gid)
}

/** Starts a daemon in a process group of its own, so that its children end with it. */
export function startDaemon(
  command: string[],
  cwd: string,
  env: Record<string, string>,
): ChildProcess {
  const [program = '', ...args] = command
  const user = serverUser()
  const identity = user ? { uid: user.uid, gid: user.gid } : {}
  return spawn(program, args, {
    cwd,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
    stdio: 'ignore',
    detached: true,
    ...identity,
  })
}

/** Ends a daemon and everything it started. */
export async function endDaemon(daemon: ChildProcess): Promise<void> {
  const isGone = daemon.exitCode !== null || daemon.signalCode !== null
  daemon.ref()
  const ended = isGone ? undefined : once(daemon, 'exit')
  signalGroup(daemon, 'SIGTERM')
  await Promise.race([ended, sleep(3_000, undefined, { ref: false })])
  signalGroup(daemon, 'SIGKILL')
  await ended
}

/**
 * Ends a daemon and everything it started, and removes its folder, when this process ends, however
 * it ends: a shell waits for the end of its input, which is a pipe of this process. Neither keeps
 * this process alive.
 * @returns the shell, to be killed when the daemon has ended before
 */
export function endWithProcess(daemon: ChildProcess, folder: string): ChildProcess {
  const end = `read _
kill -TERM "-$1"
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "-$1" && sleep 0.2; done
kill -KILL "-$1"
rm -rf -- "$2"`
  const guard = spawn('/bin/sh', ['-c', end, 'guard', String(daemon.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  for (const each of [daemon, guard, guard.stdin as Socket]) each.unref()
  return guard
}

/** Ends a daemon and everything it started, and removes its folder. */
export async function stopDaemon(daemon: ChildProcess, folder: string): Promise<void> {
  await endDaemon(daemon)
  for (let tries = 0; existsSync(folder) && tries < 20; tries++) {
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // A child was still writing.
      await sleep(50)
    }
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The process has ended already.
  }
}

/**
 * Waits until the server greets, `daemon` ends, or 20 seconds have passed; one that does not greet
 * is ended.
 */
export async function greets(port: number, daemon: ChildProcess, log: () => string): Promise<void> {
  for (const until = Date.now() + 20_000; Date.now() < until; await sleep(50)) {
    if (await greeting(port)) return
    if (daemon.exitCode !== null) break
  }
  signalGroup(daemon, 'SIGTERM')
  throw new Error(`the server did not start: ${log().slice(-2000)}`)
}

async function greeting(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    const [bytes] = (await Promise.race([
      once(socket, 'data'),
      once(socket, 'end'),
      sleep(3_000, [], { ref: false }),
    ])) as Buffer[]
    return bytes?.toString().startsWith('* OK') ?? false
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** TLS in front of a plain port. It does not keep this process alive. */
export async function startTlsFront(
  port: number,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createTlsServer(localhostCertificate(), (secured) => {
    const plain = connect(port, '127.0.0.1')
    for (const socket of [secured, plain])
      sockets.add(socket.on('error', () => plain.destroy() && secured.destroy()))
    secured.pipe(plain).pipe(secured)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

let certificate: Certified | undefined

/** A self-signed certificate. */
export function localhostCertificate(): Certified {
  certificate ??= makeCertificate({
    subject: '/CN=localhost',
    altNames: ['DNS:localhost', 'IP:127.0.0.1'],
  })
  return certificate
}

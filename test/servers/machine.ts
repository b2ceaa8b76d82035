import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ignoreEpipe } from '../ignore-epipe.ts'

/** Debian packages whose programs run on the machine. */
const PACKAGES = {
  fail2ban: '/usr/bin/fail2ban-server',
  nftables: '/usr/sbin/nft',
  ipset: '/usr/sbin/ipset',
  iptables: '/usr/sbin/iptables',
  iproute2: '/usr/sbin/ip',
  shellcheck: '/usr/bin/shellcheck',
  curl: '/usr/bin/curl',
  wget: '/usr/bin/wget',
  systemd: '/usr/bin/systemd-analyze',
} as const

export type PackageName = keyof typeof PACKAGES

/** @throws Error that names the Debian packages to install, or what else is missing */
export function requirePackages(...names: PackageName[]): void {
  const missing = names.filter((name) => !existsSync(PACKAGES[name]))
  if (missing.length > 0)
    throw new Error(`These tests need the Debian packages ${missing.join(', ')}`)
  if (process.getuid?.() !== 0)
    throw new Error('These tests need root: they make namespaces of their own')
}

export type Outcome = { status: number | null; stdout: string; stderr: string }
type RunOptions = { input?: string; env?: Record<string, string> }

/** A machine of the test’s own: changes of its folders and firewall stay inside. */
export type Machine = {
  pid: number
  /** The test waits, a minute at most: not for what asks a service of the same process. */
  run(command: string[], options?: RunOptions): Outcome
  /** Like run, but lets the test go on. */
  runAside(command: string[], options?: RunOptions): Promise<Outcome>
  /** Runs until it ends by itself or the machine is closed. */
  start(command: string[]): ChildProcess
  read(path: string): string
  write(path: string, text: string, mode?: number): void
  exists(path: string): boolean
  mode(path: string): string
  /**
   * Every file below the folders with its mode and content, for a comparison of before and after.
   */
  snapshot(...folders: string[]): Record<string, string>
  close(): Promise<void>
}

/**
 * Opens namespaces with a copy of /etc, and with /usr/local, /var/lib, /var/log and /run empty.
 * @param network also a network of its own, where only the loopback is up
 */
export async function openMachine({ network = false } = {}): Promise<Machine> {
  const holder = spawn('/usr/bin/unshare', ['-m', ...(network ? ['-n'] : []), 'sh', '-c', SET_UP], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  const pid = holder.pid as number
  const inside = (path: string) => `/proc/${pid}/root${path}`
  const enter = (command: string[]) => [
    '-t',
    String(pid),
    '-m',
    ...(network ? ['-n'] : []),
    ...command,
  ]
  const children = new Set<ChildProcess>()
  const start = (command: string[], { env }: RunOptions = {}) => {
    const child = spawn('/usr/bin/nsenter', enter(command), {
      env: { PATH: PLAIN_PATH, ...env },
      stdio: 'pipe',
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }

  return {
    pid,
    start,
    run(command, { input = '', env = {} } = {}) {
      const { status, stdout, stderr } = spawnSync('/usr/bin/nsenter', enter(command), {
        env: { PATH: PLAIN_PATH, ...env },
        input,
        encoding: 'utf8',
        maxBuffer: 1 << 26,
        timeout: 60_000,
        killSignal: 'SIGKILL',
      })
      return { status, stdout, stderr }
    },
    async runAside(command, { input = '', env = {} } = {}) {
      const child = start(command, { env })
      let [stdout, stderr] = ['', '']
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      ignoreEpipe(child.stdin)?.end(input)
      const [status] = (await once(child, 'close')) as [number | null]
      return { status, stdout, stderr }
    },
    read: (path) => readFileSync(inside(path), 'utf8'),
    write(path, text, mode = 0o644) {
      mkdirSync(dirname(inside(path)), { recursive: true })
      writeFileSync(inside(path), text, { mode })
    },
    exists: (path) => existsSync(inside(path)),
    mode: (path) => (statSync(inside(path)).mode & 0o777).toString(8),
    snapshot: (...folders) =>
      Object.fromEntries(folders.flatMap((folder) => filesBelow(inside(''), inside(folder)))),
    async close() {
      for (const child of children) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      holder.kill('SIGKILL')
      await once(holder, 'exit')
    },
  }
}

const PLAIN_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const SET_UP = `set -e
mount --make-rprivate /
mount -t tmpfs none /mnt && cp -a /etc/. /mnt && mount --move /mnt /etc
for folder in /usr/local /var/lib /var/log /run; do mount -t tmpfs none "$folder"; done
mkdir -p /usr/local/bin /usr/local/sbin /var/lib/fail2ban /run/fail2ban
ip link set lo up 2>/dev/null || :
echo ready
exec sleep infinity`

function filesBelow(root: string, folder: string): [string, string][] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [`/${relative(root, path)}`, fingerprint(path)])
}

function fingerprint(path: string): string {
  const info = statSync(path)
  const content = info.isFile() ? readFileSync(path, 'latin1') : ''
  return `${info.mode.toString(8)} ${content}`
}

/**
 * A program that outlives its command (fail2ban's helper runs in the background) is found by its
 * command line.
 */
export function commandLines(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')]
    } catch {
      return []
    }
  })
}

import { spawn } from 'node:child_process'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import packet from 'dns-packet'
import { freePort } from '../free-port.ts'

/**
 * How a zone answers. `parked`: an address outside 127.0.0.0/8 for everything; `expired`: SERVFAIL.
 */
type Behaviour =
  | 'answering'
  | 'no-test-entry'
  | 'refusing'
  | 'wildcard'
  | 'parked'
  | 'silent'
  | 'refused'
  | 'expired'

export type Zone = {
  behaviour?: Behaviour
  /**
   * By address: the code, or several, each with its text after a space: `127.0.0.4 Seen at a trap`.
   */
  listed?: Record<string, string | string[]>
  /** Addresses whose name exists, but has no A record. */
  nodata?: string[]
  /** By domain, subdomains included: the code, with its text after a space. */
  domains?: Record<string, string>
  /** What 127.0.0.2 answers. */
  testCode?: string
}

export type Rbldnsd = {
  address: string
  port: number
  pid: number
  /** Changes zones; resolves when the new data is served. */
  setZones(zones: Record<string, Zone>): Promise<void>
  /** Names and types asked so far, in order: `4.4.8.8.bl.example A`. */
  queryLog(): string[]
  stop(): Promise<void>
}

const DATASETS = ['acl', 'ip4trie', 'ip4set', 'generic', 'dnset']

/** Debian's rbldnsd with these zones, on a free UDP port of 127.0.0.1. */
export async function startRbldnsd(
  zones: Record<string, Zone>,
  { ttl = 60, negativeTtl = 60, log = true } = {},
): Promise<Rbldnsd> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-rbldnsd-'))
  // It drops root for a user of its own, who must be able to read this folder and write the log.
  chmodSync(folder, 0o755)
  const logFile = join(folder, 'log')
  writeFileSync(logFile, '')
  chmodSync(logFile, 0o666)
  let written = 0

  function write(zone: string, content: Zone): void {
    for (const [dataset, text] of Object.entries(datasetsOf(content, ttl, negativeTtl))) {
      const file = join(folder, `${zone}.${dataset}`)
      writeFileSync(file, text)
      // It looks for a new time, in seconds, to see that a file has changed.
      written += 1
      utimesSync(file, written, written)
    }
  }

  for (const [zone, content] of Object.entries(zones)) write(zone, content)
  const port = await freePort()
  const datasets = Object.keys(zones).flatMap((zone) =>
    DATASETS.map((name) => `${zone}:${name}:${zone}.${name}`),
  )
  const logging = log ? ['-l', `+${logFile}`] : []
  const args = [
    '-n',
    '-r',
    '/',
    '-w',
    folder,
    '-b',
    `127.0.0.1/${port}`,
    '-t',
    '60',
    '-c',
    '0',
    '-a',
    ...logging,
  ]
  // Without stdbuf its lines stay in a buffer until it ends.
  const command = ['-oL', '/usr/sbin/rbldnsd', ...args, ...datasets]
  const daemon = spawn('stdbuf', command, { stdio: ['ignore', 'pipe', 'ignore'] })
  const lines = createInterface({ input: daemon.stdout })
  await lineWith(lines, /started \(/)

  return {
    address: '127.0.0.1',
    port,
    pid: daemon.pid as number,
    async setZones(changed) {
      for (const [zone, content] of Object.entries(changed)) write(zone, content)
      const reloaded = lineWith(lines, /zones reloaded/)
      daemon.kill('SIGHUP')
      // It forgets a signal that comes at the end of a reload.
      const again = setInterval(() => daemon.kill('SIGHUP'), 1_000)
      await reloaded.finally(() => clearInterval(again))
    },
    queryLog: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .flatMap((line) => /^\d+ \S+ (\S+) (\S+) IN/.exec(line)?.slice(1).join(' ') ?? []),
    async stop() {
      const ended = once(daemon, 'exit')
      daemon.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

/**
 * Files of each type for one zone: every zone has all of them, so that its behaviour can change
 * while it runs.
 */
function datasetsOf(zone: Zone, ttl: number, negativeTtl: number): Record<string, string> {
  const {
    behaviour = 'answering',
    listed = {},
    nodata = [],
    domains = {},
    testCode = '127.0.0.2',
  } = zone
  const head = `$SOA ${ttl} ns.test.invalid hostmaster.test.invalid 1 1h 10m 1w ${negativeTtl}\n$NS ${ttl} ns.test.invalid\n$TTL ${ttl}\n`
  const entries = Object.entries(listed).flatMap(([ip, codes]) =>
    [codes].flat().map((code) => entry(ip, code)),
  )
  const test = behaviour === 'no-test-entry' ? [] : [`127.0.0.2 :${testCode}:Test entry for $`]
  return {
    acl: ACL[behaviour] ?? '',
    ip4trie: TRIE[behaviour] ?? '',
    ip4set:
      behaviour === 'expired'
        ? '$TIMESTAMP 2020:01:01 2020:01:02\n'
        : `${head}${[...test, ...entries].join('\n')}\n`,
    generic: nodata
      .map((ip) => `${ip.split('.').toReversed().join('.')} TXT "no address here"\n`)
      .join(''),
    dnset: Object.entries(domains)
      .map(([domain, code]) => `${entry(`.${domain}`, code)}\n`)
      .join(''),
  }
}

function entry(ip: string, codeAndText: string): string {
  const [code = '', ...text] = codeAndText.split(' ')
  return `${ip} :${code}:${text.join(' ')}`
}

const ACL: Partial<Record<Behaviour, string>> = {
  silent: '0.0.0.0/0 :ignore\n',
  refused: '0.0.0.0/0 :refuse\n',
}
const TRIE: Partial<Record<Behaviour, string>> = {
  refusing: '0.0.0.0/0 :127.255.255.254:Error: open resolver\n',
  wildcard: '0.0.0.0/0 :127.0.0.2:Everything is listed\n',
  parked: '0.0.0.0/0 :203.0.113.80:\n',
}

async function lineWith(lines: ReturnType<typeof createInterface>, wanted: RegExp): Promise<void> {
  const heard: string[] = []
  await new Promise<void>((resolve, reject) => {
    const hear = (line: string) => {
      heard.push(line)
      if (!wanted.test(line)) return
      lines.off('line', hear).off('close', end)
      resolve()
    }
    const end = () => reject(new Error(`rbldnsd ended: ${heard.slice(-5).join('\n')}`))
    lines.on('line', hear).on('close', end)
  })
}

export type SlowServer = { address: string; port: number; stop(): Promise<void> }

/**
 * Forwards queries to a server and holds its answers back.
 * @param delayOf milliseconds for a name, or null to lose the query
 */
export async function startSlowServer(
  target: { address: string; port: number },
  delayOf: (name: string) => number | null,
): Promise<SlowServer> {
  const server = createSocket('udp4')
  const upstreams = new Set<Socket>()
  let stopped = false

  function forward(query: Buffer, client: RemoteInfo): void {
    const delay = delayOf(packet.decode(query).questions?.[0]?.name ?? '')
    if (delay === null) return
    const upstream = createSocket('udp4')
    upstreams.add(upstream)
    upstream.once('message', (answer) => {
      upstreams.delete(upstream)
      upstream.close()
      setTimeout(() => stopped || server.send(answer, client.port, client.address), delay)
    })
    upstream.send(query, target.port, target.address)
  }

  server.on('message', forward).bind(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: '127.0.0.1',
    port: server.address().port,
    async stop() {
      stopped = true
      for (const upstream of upstreams) upstream.close()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}

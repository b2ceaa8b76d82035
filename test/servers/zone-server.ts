import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createResolver, dataOf } from '../../src/net/dns.ts'
import { startDns } from './dns.ts'

export type ZoneServer = {
  address: string
  port: number
  /** Replaces the contents of a zone, and waits until they are served. Its serial must grow. */
  change(zone: string, text: string): Promise<void>
  close(): Promise<void>
}

/**
 * NSD, a real authoritative server, on a free loopback port.
 * @param zones zone files by the name of their zone; `@` is the zone itself
 */
export async function startZoneServer(zones: Record<string, string>): Promise<ZoneServer> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-nsd-'))
  const port = await freePort()
  for (const [zone, text] of Object.entries(zones))
    writeFileSync(join(folder, `${zone}.zone`), text)
  writeFileSync(join(folder, 'nsd.conf'), configuration(folder, port, Object.keys(zones)))
  const nsd = spawn('/usr/sbin/nsd', ['-d', '-c', join(folder, 'nsd.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = async () => {
    if (nsd.exitCode === null && nsd.kill()) await once(nsd, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await answering(nsd, port, Object.keys(zones)[0] ?? '.')
  } catch (error) {
    await stop()
    throw error
  }
  return {
    address: '127.0.0.1',
    port,
    async change(zone, text) {
      const before = await serialOf(zone, port)
      writeFileSync(join(folder, `${zone}.zone`), text)
      nsd.kill('SIGHUP')
      for (const until = Date.now() + 10_000; (await serialOf(zone, port)) === before;) {
        if (Date.now() > until) throw new Error(`nsd does not serve the new ${zone}`)
        await new Promise((done) => setTimeout(done, 20))
      }
    },
    close: stop,
  }
}

async function serialOf(zone: string, port: number): Promise<number | undefined> {
  const resolver = createResolver({ servers: [{ address: '127.0.0.1', port }], timeoutMs: 500 })
  const answer = await resolver.query(zone, 'SOA')
  resolver.close()
  return dataOf(answer, 'SOA')[0]?.serial
}

function configuration(folder: string, port: number, zones: string[]): string {
  const files = zones.map((zone) => `zone:\n  name: ${zone}\n  zonefile: ${zone}.zone\n`)
  return `
server:
  ip-address: 127.0.0.1@${port}
  server-count: 1
  username: ""
  zonesdir: ${folder}
  pidfile: ""
  zonelistfile: ${folder}/zone.list
  xfrdfile: ""
  xfrdir: ${folder}
  database: ""
  cookie-secret-file: ""
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${files.join('')}`
}

async function answering(nsd: ChildProcess, port: number, zone: string): Promise<void> {
  let said = ''
  nsd.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const resolver = createResolver({
    servers: [{ address: '127.0.0.1', port }],
    timeoutMs: 100,
    tries: 1,
  })
  for (const until = Date.now() + 10_000; Date.now() < until;) {
    const answer = await resolver.query(zone, 'SOA')
    if (answer.status === 'NOERROR') return
    if (nsd.exitCode !== null) throw new Error(`nsd ended with ${nsd.exitCode}: ${said}`)
    await new Promise((done) => setTimeout(done, 20))
  }
  throw new Error(`nsd does not answer: ${said}`)
}

/** NSD wants the port for UDP and TCP. */
async function freePort(): Promise<number> {
  const probe = await startDns()
  await probe.close()
  return probe.port
}

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createResolver, dataOf } from '../../src/net/dns.ts'
import type { HostPort } from '../../src/setting-values.ts'
import { freePort } from '../free-port.ts'

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
 * @param at another loopback address and port, such as 53, which needs root
 */
export async function startZoneServer(
  zones: Record<string, string>,
  at?: { address: string; port: number },
): Promise<ZoneServer> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-nsd-'))
  const { address, port } = at ?? { address: '127.0.0.1', port: await freePort() }
  for (const [zone, text] of Object.entries(zones))
    writeFileSync(join(folder, `${zone}.zone`), text)
  writeFileSync(
    join(folder, 'nsd.conf'),
    configuration(folder, { address, port }, Object.keys(zones)),
  )
  const nsd = spawn('/usr/sbin/nsd', ['-d', '-c', join(folder, 'nsd.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = async () => {
    if (nsd.exitCode === null && nsd.kill()) await once(nsd, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await answering(nsd, { address, port }, Object.keys(zones)[0] ?? '.')
  } catch (error) {
    await stop()
    throw error
  }
  return {
    address,
    port,
    async change(zone, text) {
      const before = await serialOf(zone, { address, port })
      writeFileSync(join(folder, `${zone}.zone`), text)
      nsd.kill('SIGHUP')
      for (
        const until = Date.now() + 10_000;
        (await serialOf(zone, { address, port })) === before;
      ) {
        if (Date.now() > until) throw new Error(`nsd does not serve the new ${zone}`)
        await new Promise((done) => setTimeout(done, 20))
      }
    },
    close: stop,
  }
}

async function serialOf(zone: string, server: HostPort): Promise<number | undefined> {
  const resolver = createResolver({ servers: [server], timeoutMs: 500 })
  const answer = await resolver.query(zone, 'SOA')
  resolver.close()
  return dataOf(answer, 'SOA')[0]?.serial
}

function configuration(folder: string, { address, port }: HostPort, zones: string[]): string {
  const files = zones.map((zone) => `zone:\n  name: ${zone}\n  zonefile: ${zone}.zone\n`)
  return `
server:
  ip-address: ${address}@${port}
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

async function answering(nsd: ChildProcess, server: HostPort, zone: string): Promise<void> {
  let said = ''
  nsd.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const resolver = createResolver({
    servers: [server],
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

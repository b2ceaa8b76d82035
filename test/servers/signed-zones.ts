import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createResolver } from '../../src/net/dns.ts'
import { freePort } from '../free-port.ts'
import { startZoneServer } from './zone-server.ts'

/**
 * How a zone is signed. `wrong-ds`: its parent has the DS record of another key. `no-ds`: signed,
 * but its parent has no DS record.
 */
type Signing = 'valid' | 'expired' | 'wrong-ds' | 'no-ds' | 'unsigned'

/** The records of a zone, without SOA and NS; `@` is the zone itself. */
export type SignedZone = { signing: Signing; records: string }

type Address = { address: string; port: number }
export type SignedZones = {
  /** Unbound, which validates with the trust anchor of our root. */
  validating: Address
  /** Unbound, which does not validate. */
  trusting: Address
  /** What unbound-host says about a name, with the same trust anchor. */
  securityOf(name: string, type: string): Promise<'secure' | 'insecure' | 'bogus'>
  close(): Promise<void>
}

/** Starts NSD with a signed root and these zones below it, and two resolvers. */
export async function startSignedZones(zones: Record<string, SignedZone>): Promise<SignedZones> {
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-signed-'))
  const stops: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true })]
  const close = async () => {
    for (const stop of stops.toReversed()) await stop()
  }
  try {
    const { texts, anchor } = signAll(folder, { '.': { signing: 'valid', records: '' }, ...zones })
    const nsd = await startZoneServer(texts)
    stops.push(() => nsd.close())
    const names = Object.keys(texts)
    const validating = await startUnbound(folder, { names, nsd, anchor })
    stops.push(() => validating.stop())
    const trusting = await startUnbound(folder, { names, nsd })
    stops.push(() => trusting.stop())
    const securityOf = (name: string, type: string) => askUnboundHost(validating.file, name, type)
    return { validating, trusting, securityOf, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Signs the children first: a parent has their DS records. */
function signAll(folder: string, zones: Record<string, SignedZone>) {
  const texts: Record<string, string> = {}
  const delegations = new Map<string, string[]>()
  let anchor = ''
  const depth = (name: string) => (name === '.' ? 0 : name.split('.').length)
  for (const name of Object.keys(zones).toSorted((one, other) => depth(other) - depth(one))) {
    const { signing, records } = zones[name] as SignedZone
    const text = `$ORIGIN ${absolute(name)}
$TTL 300
@ SOA ns.invalid. hostmaster.invalid. 1 3600 600 86400 60
@ NS ns.invalid.
${records}
${(delegations.get(name) ?? []).join('\n')}
`
    const signed = sign(folder, name, text, signing)
    texts[name] = signed.text
    if (name === '.') anchor = signed.ds
    const parent = parentOf(name, Object.keys(zones))
    const own = delegations.get(parent) ?? []
    delegations.set(parent, [...own, `${absolute(name)} NS ns.invalid.`, signed.ds])
  }
  return { texts, anchor }
}

const absolute = (name: string) => (name === '.' ? '.' : `${name}.`)

function parentOf(name: string, zones: string[]): string {
  const above = zones.filter((zone) => name.endsWith(`.${zone}`))
  return above.toSorted((one, other) => other.length - one.length)[0] ?? '.'
}

function sign(folder: string, zone: string, text: string, signing: Signing) {
  if (signing === 'unsigned') return { text, ds: '' }
  const own = mkdtempSync(join(folder, 'zone-'))
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: own, encoding: 'utf8', stdio: 'pipe' }).trim()
  const newKey = () => run('ldns-keygen', '-a', 'ECDSAP256SHA256', '-k', zone)
  const key = newKey()
  writeFileSync(join(own, 'zone'), text)
  const dates = signing === 'expired' ? ['-i', '20200101', '-e', '20200201'] : []
  run('ldns-signzone', ...dates, '-f', 'signed', 'zone', key)
  const publishedKey = signing === 'wrong-ds' ? newKey() : key
  return {
    text: readFileSync(join(own, 'signed'), 'utf8'),
    ds: signing === 'no-ds' ? '' : readFileSync(join(own, `${publishedKey}.ds`), 'utf8').trim(),
  }
}

type Upstream = { names: string[]; nsd: Address; anchor?: string }

/** Unbound on a free loopback port, which asks NSD for every zone. */
async function startUnbound(folder: string, upstream: Upstream) {
  const port = await freePort()
  const file = join(folder, `unbound-${port}.conf`)
  writeFileSync(file, configuration(port, upstream))
  const unbound = spawn('/usr/sbin/unbound', ['-d', '-p', '-c', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const address = '127.0.0.1'
  await answering(unbound, { address, port })
  const stop = async () => {
    if (unbound.exitCode === null && unbound.kill()) await once(unbound, 'exit')
  }
  return { address, port, file, stop }
}

function configuration(port: number, { names, nsd, anchor }: Upstream): string {
  const stubs = names.map(
    (name) => `stub-zone:\n  name: "${absolute(name)}"\n  stub-addr: ${nsd.address}@${nsd.port}\n`,
  )
  return `
server:
  interface: 127.0.0.1@${port}
  num-threads: 1
  username: ""
  chroot: ""
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "${anchor === undefined ? 'iterator' : 'validator iterator'}"
${anchor === undefined ? '' : `  trust-anchor: "${anchor.replaceAll('\t', ' ')}"`}
remote-control:
  control-enable: no
${stubs.join('')}`
}

async function answering(unbound: ChildProcess, server: Address): Promise<void> {
  let said = ''
  unbound.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const resolver = createResolver({ servers: [server], timeoutMs: 200, tries: 1 })
  for (const until = Date.now() + 10_000; Date.now() < until;) {
    if ((await resolver.query('.', 'SOA')).status === 'NOERROR') return
    if (unbound.exitCode !== null) throw new Error(`unbound ended: ${said}`)
    await new Promise((done) => setTimeout(done, 20))
  }
  unbound.kill()
  throw new Error(`unbound does not answer: ${said}`)
}

async function askUnboundHost(file: string, name: string, type: string) {
  const { stdout } = await promisify(execFile)('/usr/bin/unbound-host', [
    '-C',
    file,
    '-v',
    '-t',
    type,
    name,
  ])
  if (stdout.includes('(BOGUS')) return 'bogus'
  return stdout.includes('(secure)') ? 'secure' : 'insecure'
}

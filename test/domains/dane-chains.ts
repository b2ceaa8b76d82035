import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createHash, X509Certificate } from 'node:crypto'
import { execFile } from 'node:child_process'
import { createLog } from '../../src/log.ts'
import { createDomainContext, type DomainDeps } from '../../src/domains/domain-context.ts'
import { daneLine } from '../../src/domains/lines/dane-line.ts'
import type { LineResult } from '../../src/domains/lines/line.ts'
import type { DnsFailure } from '../../src/net/dns.ts'
import { mapResolver } from '../resolver.ts'
import { makeAuthority, makeCertificate, type Certified } from '../servers/certificates.ts'
import type { Records } from '../servers/dns-records.ts'
import { SCRIPTS, startTlsServer, type Script, type TcpServer } from '../servers/tls.ts'

const { root, intermediate } = makeAuthority()
const stranger = makeAuthority()
export const HOST = 'mail.dane.test'

type Wish = Partial<Parameters<typeof makeCertificate>[0]>
export const issue = (wish: Wish = {}) =>
  makeCertificate({
    subject: '/O=Portreeve tests/OU=Mail',
    altNames: [`DNS:${HOST}`],
    issuer: intermediate,
    ...wish,
  })
const authority = (wish: Wish = {}) =>
  makeCertificate({ subject: '/CN=Other intermediate', isCa: true, issuer: root, ...wish })

export const leaf = issue()
const ended = authority({ from: -9, to: -1 })
const endedRoot = authority({ issuer: undefined, subject: '/CN=Ended root', from: -9, to: -1 })
const noAuthority = authority({ isCa: false })
const forClients = authority({ extensions: ['extendedKeyUsage = clientAuth'] })
const selfSigned = issue({ issuer: undefined })
const foreign = issue({ issuer: stranger.intermediate })

/** What a server sends, by name: its own certificate first. */
const CHAINS = {
  intermediate: [leaf, intermediate],
  root: [leaf, intermediate, root],
  alone: [leaf],
  disordered: [leaf, root, intermediate],
  'self-signed': [selfSigned],
  'expired leaf': [issue({ from: -9, to: -1 }), intermediate],
  'future leaf': [issue({ from: 2, to: 9 }), intermediate],
  'expired intermediate': [issue({ issuer: ended }), ended, root],
  'other host': [issue({ altNames: ['DNS:other.dane.test'] }), intermediate],
  wildcard: [issue({ altNames: ['DNS:*.dane.test'] }), intermediate],
  'partial wildcard': [issue({ altNames: ['DNS:ma*.dane.test'] }), intermediate],
  'common name': [issue({ altNames: [], subject: `/CN=${HOST}` }), intermediate],
  'for clients': [issue({ extensions: ['extendedKeyUsage = clientAuth'] }), intermediate],
  'issuer for clients': [issue({ issuer: forClients }), forClients],
  'no authority': [issue({ issuer: noAuthority }), noAuthority, root],
  'expired root': [issue({ issuer: endedRoot }), endedRoot],
  foreign: [foreign, stranger.intermediate, stranger.root],
  'foreign without root': [foreign, stranger.intermediate],
} satisfies Record<string, Certified[]>

/** A chain whose intermediate certificate has lines of openssl’s configuration. */
const limited = (lines: string[], wish: Wish = {}) => {
  const issuer = authority({ subject: '/CN=Limited intermediate', extensions: lines })
  return [issue({ issuer, ...wish }), issuer, root]
}
/** `nameConstraints` with the organization of the certificates, or another one, in DER. */
const organization = (kind: 'permitted' | 'excluded', name: string) => {
  const tlv = (tag: number, ...parts: Buffer[]) =>
    Buffer.concat([Buffer.of(tag, Buffer.concat(parts).length), ...parts])
  const attribute = tlv(0x30, Buffer.from('060355040a', 'hex'), tlv(0x0c, Buffer.from(name)))
  const subtree = tlv(0x30, tlv(0xa4, tlv(0x30, tlv(0x31, attribute))))
  const der = tlv(0x30, tlv(kind === 'permitted' ? 0xa0 : 0xa1, subtree))
  return limited([`2.5.29.30 = critical,DER:${der.toString('hex')}`])
}
const constrained = (text: string, wish?: Wish) =>
  limited([`nameConstraints = critical,${text}`], wish)

/** Chains with an issuer that does not permit everything. Made on demand: there are many. */
const limitedChains = () => {
  const short = authority({
    subject: '/CN=Short intermediate',
    extensions: ['basicConstraints = critical,CA:TRUE,pathlen:0'],
  })
  const below = authority({ subject: '/CN=Intermediate below', issuer: short })
  return {
    'path too long': [issue({ issuer: below }), below, short, root],
    'path long enough': [issue({ issuer: short }), short, root],
    'name permitted': constrained('permitted;DNS:dane.test'),
    'name not permitted': constrained('permitted;DNS:other.test'),
    'name excluded': constrained('excluded;DNS:dane.test'),
    'name not excluded': constrained('excluded;DNS:ail.dane.test'),
    'address permitted': constrained('permitted;IP:192.0.2.0/255.255.255.0', {
      altNames: [`DNS:${HOST}`, 'IP:192.0.2.25'],
    }),
    'address not permitted': constrained('permitted;IP:192.0.2.0/255.255.255.240', {
      altNames: [`DNS:${HOST}`, 'IP:192.0.2.25'],
    }),
    'mailbox not permitted': constrained('permitted;email:dane.test', {
      altNames: [`DNS:${HOST}`, 'email:a@sub.dane.test'],
    }),
    'URI excluded': constrained('excluded;URI:.dane.test', {
      altNames: [`DNS:${HOST}`, 'URI:https://a.dane.test/x'],
    }),
    'common name not permitted': constrained('permitted;DNS:other.test', {
      altNames: [],
      subject: `/CN=${HOST}`,
    }),
    'organization permitted': organization('permitted', 'PORTREEVE  tests'),
    'organization not permitted': organization('permitted', 'Others'),
    'organization excluded': organization('excluded', 'Portreeve tests'),
    'unknown critical extension': limited(['1.2.3.4 = critical,DER:0500']),
  } satisfies Record<string, Certified[]>
}
let limitedOnes: ReturnType<typeof limitedChains> | undefined

export type ChainName = keyof typeof CHAINS | keyof ReturnType<typeof limitedChains>

const chainOf = (name: ChainName): Certified[] =>
  ({ ...CHAINS, ...limitedOnes })[name] ?? raise(`the chain ${name} was not made`)

function raise(message: string): never {
  throw new Error(message)
}

/** Which certificate of the chain a record is of; `root` of ours, also where it is not sent. */
export type Of = 'leaf' | 'issuer' | 'root' | 'stranger'

/** The data of a record such as `2 1 1`, of a certificate of the chain. */
export function recordOf(parts: string, of: Of, chain: ChainName): string {
  const [, selector, matchingType] = parts.split(' ')
  const [own, issuer] = chainOf(chain)
  const from = { leaf: own, issuer: issuer ?? intermediate, root, stranger: stranger.root }[of]
  const { raw, publicKey } = new X509Certificate((from as Certified).cert)
  const data = selector === '1' ? publicKey.export({ type: 'spki', format: 'der' }) : raw
  const digest = { 1: 'sha256', 2: 'sha512' }[matchingType ?? '']
  const bytes = digest ? createHash(digest).update(data).digest() : data
  return `${parts} ${bytes.toString('hex')}`
}

/** As a mail server, for any client. */
export const SMTP: Script = {
  ...SCRIPTS.smtp,
  replies: [
    { to: /^EHLO /, say: '250-mail.example.test\r\n250 STARTTLS\r\n' },
    { to: /^STARTTLS\r\n$/, say: '220 go ahead\r\n', upgrade: true },
  ],
}

export type ChainServers = { ports: Record<ChainName, number>; close(): Promise<void> }

/**
 * Starts a mail server for each chain. Our root is trusted meanwhile, as that of a public authority
 * is: DANE must not find it there.
 * @param isLimited whether with those of `limitedChains`
 */
export async function startChainServers({ isLimited = false } = {}): Promise<ChainServers> {
  if (isLimited) limitedOnes ??= limitedChains()
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, root.cert])
  const started = await Promise.all(
    Object.entries({ ...CHAINS, ...limitedOnes }).map(async ([name, certificates]) => {
      const [first] = certificates
      const cert = certificates.map((each) => each.cert).join('')
      const server = await startTlsServer({ key: first?.key ?? '', cert, script: SMTP })
      return [name, server] as const
    }),
  )
  const ports = Object.fromEntries(started.map(([name, { port }]) => [name, port]))
  const servers: TcpServer[] = started.map(([, server]) => server)
  return {
    ports: ports as Record<ChainName, number>,
    async close() {
      setDefaultCACertificates(before)
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

export type DaneWish = {
  records: Records
  failures?: Record<string, DnsFailure> | undefined
  isSigned?: ((name: string) => boolean) | undefined
  port: number
  domain?: string | undefined
}

/** The line “DANE” of a domain in these zones. */
export function checkDane({ records, failures, isSigned, port, domain }: DaneWish) {
  const name = domain ?? 'dane.test'
  const zone = { '. SOA': ['a. b. 1 2 3 4 5'], ...records }
  const deps = {
    resolver: mapResolver(zone, failures, isSigned ?? (() => true)),
    allowPrivate: true,
    log: createLog('silent'),
    ports: { smtp: port },
  } as unknown as DomainDeps
  const signal = AbortSignal.timeout(30_000)
  return daneLine.check(createDomainContext({ kind: 'name', name, unicode: name }, deps, signal))
}

/** State of the line; `unused` for a domain without DANE. */
export const stateOf = ({ state, isUsed }: LineResult) => (isUsed === false ? 'unused' : state)

/** Whether OpenSSL verifies the server with these records alone. */
export async function opensslVerifies(port: number, records: readonly string[]): Promise<boolean> {
  const data = records.flatMap((record) => ['-dane_tlsa_rrdata', record])
  const { promise, resolve } = Promise.withResolvers<string>()
  // prettier-ignore
  const openssl = execFile('openssl', ['s_client', '-no-CAfile', '-no-CApath', '-no-CAstore', '-starttls', 'smtp', '-connect', `127.0.0.1:${port}`, '-dane_tlsa_domain', HOST, '-dane_ee_no_namechecks', ...data],
    (_error, stdout, stderr) => resolve(stdout + stderr))
  openssl.stdin?.end()
  const output = await promise
  if (!output.includes('Verif')) throw new Error(`openssl did not verify: ${output}`)
  return /^Verification: OK$/m.test(output)
}

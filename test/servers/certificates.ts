import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type KeyKind = 'ec' | 'rsa2048' | 'rsa1024' | 'ed25519'
/** PEM texts. */
export type Certified = { key: string; cert: string }

type Wish = {
  /** Distinguished name as `/O=Example/CN=host.test`. */
  subject: string
  /** `DNS:host.test`, `IP:192.0.2.1`, `email:…` */
  altNames?: string[]
  key?: KeyKind
  /** Signs itself without. */
  issuer?: Certified
  /** Its key instead of a new one. */
  sameKeyAs?: Certified
  isCa?: boolean
  /** Lines of the extension section in openssl’s configuration, before the others. */
  extensions?: string[]
  /** Days from now. */
  from?: number
  to?: number
  digest?: 'sha256' | 'sha1'
  /** Hex; random without. */
  serial?: string
}

const KEYS: Record<KeyKind, string[]> = {
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  rsa2048: ['-newkey', 'rsa:2048'],
  rsa1024: ['-newkey', 'rsa:1024'],
  ed25519: ['-newkey', 'ed25519'],
}

/**
 * Makes certificates with the openssl command line; `from` and `to` may lie in the past or the
 * future.
 */
export function makeCertificate(wish: Wish): Certified {
  const {
    subject,
    altNames = [],
    key = 'ec',
    issuer,
    isCa = false,
    from = -1,
    to = 90,
    digest = 'sha256',
  } = wish
  const folder = mkdtempSync(join(tmpdir(), 'portreeve-ca-'))
  const file = (name: string, text?: string) => {
    if (text !== undefined) writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { stdio: 'pipe', cwd: folder })
  try {
    file('index.txt', '')
    file('serial', wish.serial ?? randomBytes(9).toString('hex').replace(/^./, '5'))
    file('ca.conf', CONFIG)
    file('extensions', extensions(isCa, altNames, wish.extensions ?? []))
    if (wish.sameKeyAs) file('key.pem', wish.sameKeyAs.key)
    openssl(
      'req',
      '-new',
      '-nodes',
      ...(wish.sameKeyAs ? ['-key', 'key.pem'] : KEYS[key]),
      '-utf8',
      '-subj',
      subject,
      ...(wish.sameKeyAs ? [] : ['-keyout', 'key.pem']),
      '-out',
      'csr.pem',
    )
    const signer = issuer
      ? ['-cert', file('issuer.pem', issuer.cert), '-keyfile', file('issuer-key.pem', issuer.key)]
      : ['-selfsign', '-keyfile', 'key.pem']
    const times = ['-startdate', asn1Time(from), '-enddate', asn1Time(to)]
    const md = key === 'ed25519' && !issuer ? 'default' : digest
    openssl('ca', '-batch', '-notext', '-config', 'ca.conf', '-in', 'csr.pem', '-out', 'cert.pem', '-md', md, '-extfile', 'extensions', ...times, ...signer) // prettier-ignore
    return {
      key: readFileSync(file('key.pem'), 'utf8'),
      cert: readFileSync(file('cert.pem'), 'utf8'),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const CONFIG = `
[ca]
default_ca = here
[here]
database = index.txt
serial = serial
new_certs_dir = .
policy = anything
unique_subject = no
preserve = yes
[anything]
commonName = optional
organizationName = optional
organizationalUnitName = optional
countryName = optional
`

function extensions(isCa: boolean, altNames: string[], own: string[]): string {
  const lines = [...own]
  if (!own.some((line) => line.startsWith('basicConstraints')))
    lines.push(`basicConstraints = critical,CA:${isCa ? 'TRUE' : 'FALSE'}`)
  if (isCa) lines.push('keyUsage = critical,keyCertSign,cRLSign')
  if (altNames.length > 0) lines.push(`subjectAltName = ${altNames.join(',')}`)
  return `${lines.join('\n')}\n`
}

function asn1Time(days: number): string {
  const time = new Date(Date.now() + days * 86_400_000).toISOString()
  return time.replaceAll(/[-:T]|\.\d+/g, '')
}

/** A private root and an intermediate under it, as in real life. */
export function makeAuthority(): { root: Certified; intermediate: Certified } {
  const root = makeCertificate({ subject: '/O=Portreeve tests/CN=Test root', isCa: true, to: 3650 })
  const intermediate = makeCertificate({
    subject: '/O=Portreeve tests/CN=Test intermediate',
    isCa: true,
    issuer: root,
  })
  return { root, intermediate }
}

import { generateKeyPairSync } from 'node:crypto'
import { checkMailAuth } from '../../src/diagnostics/mail-auth/mail-auth.ts'
import { Fault } from '../../src/errors.ts'
import type { DnsFailure } from '../../src/net/dns.ts'
import type { SmallResponse } from '../../src/net/http/get-small.ts'
import { mapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'

export function rsaKey(modulusLength: number): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength })
  return `v=DKIM1; k=rsa; p=${publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`
}

const KEY = rsaKey(2048)
const POLICY = 'version: STSv1\nmode: enforce\nmx: mail.example.com\nmax_age: 1209600\n'

/** A domain whose mail is in perfect order. */
export const GOOD: Records = {
  'example.com A': ['192.0.2.1'],
  'example.com MX': ['10 mail.example.com'],
  'example.com TXT': ['v=spf1 mx include:_spf.example.net -all', 'something else'],
  '_spf.example.net TXT': ['v=spf1 ip4:192.0.2.0/24 -all'],
  '_dmarc.example.com TXT': ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'],
  'mail._domainkey.example.com TXT': [KEY],
  '_mta-sts.example.com TXT': ['v=STSv1; id=1'],
  '_smtp._tls.example.com TXT': ['v=TLSRPTv1; rua=mailto:tls@example.com'],
}

type Wish = {
  domain?: string
  selector?: string[]
  ip?: string[]
  failures?: Record<string, DnsFailure>
  policy?: Partial<SmallResponse> | Fault
  signal?: AbortSignal
}

/**
 * Checks a domain with the records of GOOD, except for the given ones. An empty list removes a
 * record.
 */
export function checkWith(changes: Records = {}, wish: Wish = {}) {
  const {
    domain = 'example.com',
    selector,
    ip,
    failures,
    policy = {},
    signal = new AbortController().signal,
  } = wish
  const records = Object.fromEntries(
    Object.entries({ ...GOOD, ...changes }).filter(([, texts]) => texts.length > 0),
  )
  const fetchFile = async () => {
    if (policy instanceof Fault) throw policy
    return { status: 200, contentType: 'text/plain', body: Buffer.from(POLICY), ...policy }
  }
  return checkMailAuth(
    { domain, selector, ip },
    { resolver: mapResolver(records, failures), fetchFile },
    signal,
  )
}

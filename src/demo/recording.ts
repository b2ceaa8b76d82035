import { createHash } from 'node:crypto'
import type { DnsAnswer, DnsRecord, RecordType } from '../net/dns.ts'
import type { Recording } from '../net/offline.ts'
import type { CertificateFacts } from '../net/tls/certificate.ts'
import type { TlsFacts } from '../net/tls/probe-tls.ts'
import { readCatalogue } from '../protocols/dnsbl/blocklist-catalogue.ts'
import { DOMAIN_LISTS } from '../protocols/dnsbl/domain-lists.ts'
import { DAY_MS, isoDay } from '../time.ts'

/** Domains of the demo: the bookshop’s own, its shop’s, and one that sends no mail. */
export const DOMAINS = ['seagull.example', 'seagull-shop.example', 'gullpress.example'] as const

/** Addresses of the demo, all of them for documentation (RFC 5737). */
export const ADDRESSES = {
  web: '192.0.2.80',
  mail: '192.0.2.25',
  shop: '192.0.2.81',
  newsletter: '203.0.113.40',
  helpdesk: '198.51.100.20',
  forwarder: '198.51.100.77',
  spoofer: '203.0.113.199',
}

/** A listing of an address, in days before now. */
type Listed = { ip: string; zone: string; code: string; reason: string; from: number; to?: number }

export const LISTINGS: Listed[] = [
  {
    ip: ADDRESSES.newsletter,
    zone: 'bl.spamcop.net',
    code: '127.0.0.2',
    reason: 'Blocked - see https://www.spamcop.net/bl.shtml?203.0.113.40',
    from: 3.2,
  },
  {
    ip: ADDRESSES.newsletter,
    zone: 'dnsbl-1.uceprotect.net',
    code: '127.0.0.2',
    reason:
      'IP 203.0.113.40 is UCEPROTECT-Level 1 listed. See https://www.uceprotect.net/rblcheck.php?ipr=203.0.113.40',
    from: 2.6,
  },
  {
    ip: ADDRESSES.newsletter,
    zone: 'psbl.surriel.com',
    code: '127.0.0.2',
    reason: 'Listed in PSBL, see https://psbl.org/listing?ip=203.0.113.40',
    from: 2.2,
  },
  {
    ip: ADDRESSES.mail,
    zone: 'b.barracudacentral.org',
    code: '127.0.0.2',
    reason: 'https://www.barracudanetworks.com/reputation/?pr=1&ip=192.0.2.25',
    from: 41,
    to: 36.4,
  },
]

/** The public half of a key pair whose private half was never stored. */
const KEY =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAtx0gPeyZlhq6j3zrMno7VrCcWO0nNPwG8jslH0YYpLuh1dgfATCjMFqbP0x8hF7edBsuyK9WffSnZBW74Ds4JnnUAq6Omh1Y6AaCh8sLFIFVuuaVAX+PX8mr8Y7cinuLDh50KR0v7R1Yp0ABjG1scqw1Qmblu+aEv8FenOtn6qYo+1t3HATpSrHGleDE4n8h32joW/xLOVX/qk/C+737yXwklXScbRgfYRh0hW8FqhbFSWSDyDcfggyT8s690obOFVLR2NyARXxHPIZhqzFeAl47DALGTnnGyJvnP158LNQ/RKcl3vDWYGf3wOgXZ3ZUthyypmigLfuQ1pYcL+u8jQIDAQAB'

type Zone = Record<string, (at: number) => string[]>
const always =
  (...values: string[]) =>
  () =>
    values

/** Records by `name TYPE`, at a number of days before now. */
const ZONE: Zone = {
  ' NS': always('a.root-servers.example'),
  'seagull.example A': always(ADDRESSES.web),
  'seagull.example MX': always('10 mail.seagull.example'),
  'seagull.example NS': always('ns1.seagull.example', 'ns2.seagull.example'),
  'seagull.example TXT': (at) => [
    at > 62 ? 'v=spf1 mx -all' : `v=spf1 mx ip4:${ADDRESSES.newsletter} -all`,
  ],
  'seagull.example CAA': always('0 issue letsencrypt.org'),
  'ns1.seagull.example A': always('192.0.2.53'),
  'ns2.seagull.example A': always('198.51.100.53'),
  'mail.seagull.example A': always(ADDRESSES.mail),
  'relay.seagull.example A': always(ADDRESSES.newsletter),
  'mta-sts.seagull.example A': always(ADDRESSES.web),
  'shop.seagull.example A': always(ADDRESSES.shop),
  '_dmarc.seagull.example TXT': (at) => [
    `v=DMARC1; p=${at > 30 ? 'none' : 'quarantine'}; rua=mailto:dmarc@seagull.example`,
  ],
  '2026a._domainkey.seagull.example TXT': always(`v=DKIM1; k=rsa; p=${KEY}`),
  'news._domainkey.seagull.example TXT': always(`v=DKIM1; k=rsa; p=${KEY}`),
  '_mta-sts.seagull.example TXT': always('v=STSv1; id=20260901'),
  '_smtp._tls.seagull.example TXT': always('v=TLSRPTv1; rua=mailto:tls@seagull.example'),
  'seagull-shop.example A': always(ADDRESSES.shop),
  'seagull-shop.example MX': always('10 mail.seagull.example'),
  'seagull-shop.example NS': always('ns1.seagull.example', 'ns2.seagull.example'),
  'seagull-shop.example TXT': always('v=spf1 mx -all'),
  'seagull-shop.example CAA': always('0 issue letsencrypt.org'),
  '_dmarc.seagull-shop.example TXT': always('v=DMARC1; p=reject; rua=mailto:dmarc@seagull.example'),
  'seagull-shop.example._report._dmarc.seagull.example TXT': always('v=DMARC1'),
  '2026a._domainkey.seagull-shop.example TXT': always(`v=DKIM1; k=rsa; p=${KEY}`),
  'gullpress.example A': always(ADDRESSES.web),
  'gullpress.example NS': always('ns1.seagull.example', 'ns2.seagull.example'),
  'gullpress.example MX': always('0 .'),
  'gullpress.example TXT': always('v=spf1 -all'),
  '_dmarc.gullpress.example TXT': always('v=DMARC1; p=reject; rua=mailto:dmarc@seagull.example'),
  'gullpress.example._report._dmarc.seagull.example TXT': always('v=DMARC1'),
  ...pointers({
    [ADDRESSES.web]: 'www.seagull.example',
    [ADDRESSES.mail]: 'mail.seagull.example',
    [ADDRESSES.shop]: 'shop.seagull.example',
    [ADDRESSES.newsletter]: 'relay.seagull.example',
    [ADDRESSES.helpdesk]: 'out-20.helpdesk.example',
    [ADDRESSES.forwarder]: 'forward.university.example',
    [ADDRESSES.spoofer]: 'dsl-199.access.example',
  }),
  'out-20.helpdesk.example A': always(ADDRESSES.helpdesk),
  'forward.university.example A': always(ADDRESSES.forwarder),
  'dsl-199.access.example A': always(ADDRESSES.spoofer),
}

function pointers(names: Record<string, string>): Zone {
  return Object.fromEntries(
    Object.entries(names).map(([ip, name]) => [
      `${ip.split('.').toReversed().join('.')}.in-addr.arpa PTR`,
      always(name),
    ]),
  )
}

/** A certificate of a host: how many days ago it was issued, and for how many days. */
const CERTIFICATES: Record<string, { ports: number[]; renewedEvery: number; age: number }> = {
  'seagull.example': { ports: [443], renewedEvery: 60, age: 17 },
  'mta-sts.seagull.example': { ports: [443], renewedEvery: 60, age: 17 },
  'mail.seagull.example': { ports: [25, 465, 587, 993], renewedEvery: 60, age: 48 },
  'seagull-shop.example': { ports: [443], renewedEvery: 60, age: 5 },
  // Its renewal has failed for weeks.
  'shop.seagull.example': { ports: [443], renewedEvery: Infinity, age: 79 },
  'gullpress.example': { ports: [443], renewedEvery: 60, age: 31 },
}

const LIFETIME_DAYS = 90

export type DemoRecording = Recording & {
  /** The time at which the recording is played: the seed goes through the last 90 days. */
  at: Date | null
  /** Whether the recording has answers about a name or an address. */
  knows(target: string): boolean
}

/** Creates the recorded network of the demo. Its times are relative to now. */
export function createRecording(): DemoRecording {
  const lists = readCatalogue(undefined)
    .lists.map(({ zone, test }) => ({ zone, entry: test.expectedA ?? '127.0.0.2' }))
    // The zone of one list may be within that of another.
    .toSorted((one, other) => other.zone.length - one.zone.length)
  const daysAgo = () => (recording.at ? (Date.now() - recording.at.getTime()) / DAY_MS : 0)

  function listedIn(name: string): string[] | undefined {
    const list = lists.find(({ zone }) => name.endsWith(`.${zone}`))
    if (list) {
      const ip = name
        .slice(0, -list.zone.length - 1)
        .split('.')
        .toReversed()
        .join('.')
      if (ip === '127.0.0.2') return [list.entry]
      const at = daysAgo()
      return LISTINGS.filter(
        (one) => one.ip === ip && one.zone === list.zone && at <= one.from && at > (one.to ?? -1),
      ).map(({ code }) => code)
    }
    const domains = DOMAIN_LISTS.find(({ zone }) => name.endsWith(`.${zone}`))
    if (!domains) return undefined
    return name === `${domains.testDomain}.${domains.zone}`
      ? [
          Object.keys(domains.codes ?? {})[0] ??
            `127.0.0.${Object.keys(domains.bitmask ?? { 2: '' })[0]}`,
        ]
      : []
  }

  function reasonsIn(name: string): string[] {
    return LISTINGS.filter(
      ({ ip, zone }) => name === `${ip.split('.').toReversed().join('.')}.${zone}`,
    ).map(({ reason }) => reason)
  }

  function dns(asked: string, type: RecordType): DnsAnswer {
    const name = asked.toLowerCase().replace(/\.$/, '')
    const listed = listedIn(name)
    const values =
      listed === undefined
        ? ZONE[`${name} ${type}`]?.(daysAgo())
        : type === 'A'
          ? listed
          : type === 'TXT' && listed.length > 0
            ? reasonsIn(name)
            : []
    const exists =
      (values?.length ?? 0) > 0 ||
      Object.keys(ZONE).some(
        (key) => key.startsWith(`${name} `) || key.split(' ')[0]?.endsWith(`.${name}`),
      )
    return {
      status: exists ? 'NOERROR' : 'NXDOMAIN',
      records: (values ?? soaOf(name, type)).map((value) => recordOf(name, type, value)),
      cnames: [],
      ttl: 3_600,
      isAuthenticated: false,
      isAuthoritative: true,
      server: '192.0.2.53:53',
      ms: 12,
    }
  }

  function tls(host: string, port: number): TlsFacts | undefined {
    const certificate = CERTIFICATES[host]
    if (!certificate?.ports.includes(port)) return undefined
    const { renewedEvery, age } = certificate
    const now = (recording.at ?? new Date()).getTime()
    // The one that was in use then: renewals lie regularly before the last one.
    let issued = Date.now() - age * DAY_MS
    while (issued > now) issued -= Math.min(renewedEvery, LIFETIME_DAYS) * DAY_MS
    const leaf = certificateOf(host, new Date(issued))
    return {
      address: dns(host, 'A').status === 'NOERROR' ? (ZONE[`${host} A`]?.(0)[0] ?? '') : '',
      port,
      protocol: 'TLSv1.3',
      cipher: {
        name: 'TLS_AES_256_GCM_SHA384',
        version: 'TLSv1.3',
        standardName: 'TLS_AES_256_GCM_SHA384',
      },
      isTrusted: true,
      trustError: null,
      trustErrorText: null,
      hostnameMatches: true,
      isCommonNameOnly: false,
      chain: [leaf, ISSUER],
      path: [leaf, ISSUER],
      isOutdated: false,
      handshakeMs: 31,
    }
  }

  const recording: DemoRecording = {
    at: null,
    dns,
    tls,
    file(url) {
      if (url.href.startsWith(REGISTRY))
        return json(registrationOf(url.pathname.split('/').at(-1) ?? ''))
      if (url.href !== 'https://mta-sts.seagull.example/.well-known/mta-sts.txt') return undefined
      const body = 'version: STSv1\nmode: enforce\nmx: mail.seagull.example\nmax_age: 604800\n'
      return { status: 200, contentType: 'text/plain', body: Buffer.from(body) }
    },
    knows: (target) => {
      const name = target.trim().toLowerCase().replace(/\.$/, '')
      return (
        DOMAINS.some((domain) => name === domain || name.endsWith(`.${domain}`)) ||
        /^(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+(\/\d+)?$/.test(name)
      )
    },
  }
  return recording
}

/** The registry of the demo’s domains (RDAP). */
const REGISTRY = 'https://rdap.registry.example/'
export const REGISTRIES = { example: REGISTRY }

function registrationOf(domain: string): object {
  const index = DOMAINS.findIndex((one) => one === domain)
  const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
  return {
    objectClassName: 'domain',
    ldhName: domain,
    status: ['client transfer prohibited'],
    events: [
      { eventAction: 'registration', eventDate: at(-2_400 + index * 700) },
      // One of them ends soon.
      { eventAction: 'expiration', eventDate: at([212, 341, 24][index] ?? 300) },
    ],
    entities: [
      { roles: ['registrar'], vcardArray: ['vcard', [['fn', {}, 'text', 'Example Registrar']]] },
    ],
  }
}

const json = (content: object) => ({
  status: 200,
  contentType: 'application/rdap+json',
  body: Buffer.from(JSON.stringify(content)),
})

function soaOf(name: string, type: RecordType): string[] {
  if (type !== 'SOA') return []
  return (DOMAINS as readonly string[]).includes(name) ? ['ns1.seagull.example'] : []
}

function recordOf(name: string, type: RecordType, value: string): DnsRecord {
  return { name, type, ttl: 3_600, data: dataOf(type, value) } as DnsRecord
}

function dataOf(type: RecordType, value: string): unknown {
  const [first = '', second = '', third = ''] = value.split(' ')
  switch (type) {
    case 'MX':
      return { preference: Number(first), exchange: second }
    case 'CAA':
      return { flags: Number(first), tag: second, value: third, issuerCritical: false }
    case 'SOA':
      return {
        mname: value,
        rname: 'hostmaster.seagull.example',
        serial: 2026090101,
        refresh: 7_200,
        retry: 3_600,
        expire: 1_209_600,
        minimum: 3_600,
      }
    case 'TXT':
      return [Buffer.from(value)]
    default:
      return value
  }
}

function certificateOf(host: string, validFrom: Date): CertificateFacts {
  const digest = createHash('sha256').update(`${host} ${isoDay(validFrom)}`)
  const hex = digest.digest('hex').toUpperCase().match(/../g) ?? []
  return {
    der: Buffer.alloc(0),
    publicKeyDer: null,
    subject: { CN: host },
    issuer: ISSUER.subject,
    validFrom,
    validTo: new Date(validFrom.getTime() + LIFETIME_DAYS * DAY_MS),
    serialNumber: ['04', ...hex.slice(0, 17)].join(':'),
    fingerprint256: hex.join(':'),
    subjectAltNames: [host],
    isCa: false,
    isSelfIssued: false,
    extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'],
    keyType: 'ec',
    keyBits: 256,
    signatureAlgorithm: 'ecdsa-with-SHA384',
  }
}

const ISSUER: CertificateFacts = {
  der: Buffer.alloc(0),
  publicKeyDer: null,
  subject: { C: 'US', O: "Let's Encrypt", CN: 'E8' },
  issuer: { C: 'US', O: 'Internet Security Research Group', CN: 'ISRG Root X1' },
  validFrom: new Date('2024-03-13T00:00:00Z'),
  validTo: new Date('2027-03-12T23:59:59Z'),
  serialNumber: '63:3B:A2:8C:5B:0E:0B:F3:4A:5C:25:38:7F:7F:D4:EA',
  fingerprint256: Array(32).fill('8E').join(':'),
  subjectAltNames: [],
  isCa: true,
  isSelfIssued: false,
  extendedKeyUsage: null,
  keyType: 'ec',
  keyBits: 384,
  signatureAlgorithm: 'sha256WithRSAEncryption',
}

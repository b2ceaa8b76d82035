import { Type, type Static } from 'typebox'
import { MAX_LENGTH, nameComponents, Nullable, Timestamp } from '../http/http-schema.ts'
import { STARTTLS } from '../net/tls/starttls.ts'
import { ADVICE_SUBJECTS, SEVERITIES } from '../protocols/advice.ts'
import { DMARC_POLICIES } from '../protocols/dmarc/dmarc-record.ts'
import { LIST_CATEGORIES } from '../protocols/dnsbl/blocklist-catalogue.ts'
import { STS_MODES } from '../protocols/mail/mta-sts.ts'
import { SPF_RESULTS } from '../protocols/spf/spf-result.ts'

// --- dns-check ---

export const DnsQuery = Type.Object({
  domain: Type.String({
    maxLength: MAX_LENGTH.host,
    description: 'A domain name, as U-labels or A-labels, with or without the final dot.',
  }),
})

export const DnsResult = Type.Object({
  domain: Type.String({ description: 'The checked name, in A-labels.' }),
  unicodeDomain: Type.String({ description: 'The same name in Unicode.' }),
  status: Type.Enum(['NOERROR', 'NXDOMAIN'], {
    description: '`NXDOMAIN`: the name does not exist.',
  }),
  a: Type.Array(Type.String(), { description: 'IPv4 addresses.' }),
  aaaa: Type.Array(Type.String(), { description: 'IPv6 addresses.' }),
  mx: Type.Array(Type.Object({ exchange: Type.String(), priority: Type.Integer() }), {
    description: 'Mail servers by priority. A null MX has the exchange `.` (RFC 7505).',
  }),
  txt: Type.Array(Type.String(), { description: 'One item per record, its strings joined.' }),
  cname: Type.Array(Type.String(), {
    description: 'The targets of this alias, in the order of the chain.',
  }),
  ns: Type.Array(Type.String(), { description: 'Name servers.' }),
  soa: Nullable(
    Type.Object({
      mname: Type.String({ description: 'Primary name server.' }),
      rname: Type.String({
        description: 'Mailbox of the administrator, written as a domain name.',
      }),
      serial: Type.Integer(),
      refresh: Type.Integer(),
      retry: Type.Integer(),
      expire: Type.Integer(),
      minimum: Type.Integer({ description: 'Seconds for which a negative answer may be cached.' }),
    }),
  ),
  caa: Type.Array(
    Type.Object({ flags: Type.Integer(), tag: Type.String(), value: Type.String() }),
    {
      description: 'Certificate authorities that may issue for the name (RFC 8659).',
    },
  ),
  ttl: Type.Integer({
    description: 'Seconds for which the result may be cached: the lowest TTL of all answers.',
  }),
  errors: Type.Record(Type.String(), Type.String(), {
    description:
      'The types whose queries failed, and why: `{"mx": "SERVFAIL"}`. Their arrays are empty because nothing is known.',
  }),
  durationMs: Type.Integer(),
  warnings: Type.Array(Type.String(), { description: 'Problems found, as sentences.' }),
})
export type DnsResult = Static<typeof DnsResult>

// --- ssl-check ---

export const TlsQuery = Type.Object({
  domain: Type.String({ maxLength: MAX_LENGTH.host, description: 'A host name or an IP address.' }),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65535,
      description: 'Default: 443, or with `starttls` the usual port of its protocol.',
    }),
  ),
  starttls: Type.Optional(
    Type.Enum([...STARTTLS], {
      description: 'The protocol that starts TLS after a plain-text greeting.',
    }),
  ),
})

const Attributes = Type.Record(Type.String(), Type.String(), {
  description: 'Values by attribute name (`CN`, `O`).',
})
const certificate = {
  subject: Attributes,
  issuer: Attributes,
  validFrom: Timestamp,
  validTo: Timestamp,
  serialNumber: Type.String({ description: 'Hex pairs separated by colons.' }),
  fingerprint256: Type.String({
    description: 'SHA-256 of the certificate, as hex pairs separated by colons.',
  }),
}

export const TlsResult = Type.Object({
  domain: Type.String({ description: 'The checked host, in A-labels, or the address.' }),
  ...certificate,
  daysRemaining: Type.Integer({
    description:
      'Whole days until the first certificate of the chain expires, rounded down. Negative after expiry.',
  }),
  isExpired: Type.Boolean({ description: 'Whether a certificate of the chain has expired.' }),
  subjectAltNames: Type.Array(Type.String(), {
    description:
      'Names and addresses in the certificate. Other kinds have a prefix, such as `email:`, or `DNS:` for an address as a DNS name.',
  }),
  protocol: Type.String(),
  cipher: Type.Object({
    name: Type.String(),
    version: Type.String({ description: 'The protocol version that first defined the cipher.' }),
    standardName: Type.String({ description: 'The name in the IANA registry.' }),
  }),
  authorized: Type.Boolean({
    description:
      'True if the root is trusted, the certificate is valid now and it is for this host.',
  }),
  authorizationError: Nullable(
    Type.String({ description: 'The first reason against it, as an OpenSSL or Node.js code.' }),
  ),
  hostnameMatches: Type.Boolean(),
  chain: Type.Array(Type.Object({ ...certificate, isCa: Type.Boolean() }), {
    description:
      'From the server’s certificate to the root. Includes a trusted root that the server did not send.',
  }),
  keyType: Nullable(Type.String({ description: '`rsa`, `ec`, `ed25519`, …' })),
  keyBits: Nullable(Type.Integer()),
  signatureAlgorithm: Nullable(Type.String()),
  address: Type.String({ description: 'The address of the connection.' }),
  port: Type.Integer(),
  starttls: Nullable(Type.Enum([...STARTTLS])),
  handshakeMs: Type.Integer(),
  warnings: Type.Array(Type.String(), {
    description: 'Current and upcoming problems, each with an action.',
  }),
})
export type TlsResult = Static<typeof TlsResult>

// --- blacklist-check ---

export const BlacklistItem = Type.Object({
  name: Type.String(),
  dnsbl: Type.String({ description: 'DNS zone of the blocklist.' }),
  listed: Type.Boolean(),
  category: Type.Enum([...LIST_CATEGORIES], { description: 'Severity of a listing.' }),
  status: Type.Enum(['listed', 'clean', 'unknown'], {
    description:
      '`unknown`: the query failed or the answer is not reliable. Never counted as clean.',
  }),
  codes: Type.Array(Type.String(), {
    description: 'The addresses in the answer, such as 127.0.0.2.',
  }),
  meanings: Type.Array(Type.String(), {
    description: 'The meanings that the list documents for these codes.',
  }),
  reason: Nullable(
    Type.String({ description: 'The text that the list publishes with a listing.' }),
  ),
  detail: Nullable(
    Type.String({ description: 'The reason for `unknown`, or a remark on the list.' }),
  ),
  delistUrl: Nullable(
    Type.String({ description: 'Page to request removal or look up the address.' }),
  ),
  health: Type.Enum(['healthy', 'no-test-entry', 'refusing', 'failing', 'dead', 'wildcard'], {
    description: 'Result of querying the list’s test entries (RFC 5782, section 5).',
  }),
  ttl: Type.Integer({ description: 'Seconds for which the answer may still be cached.' }),
})
export type BlacklistItem = Static<typeof BlacklistItem>

export const BlacklistResult = Type.Object({
  ip: Type.String(),
  totalChecked: Type.Integer({ description: 'Number of lists: listed, clean and unknown.' }),
  listedCount: Type.Integer(),
  cleanCount: Type.Integer(),
  unknownCount: Type.Integer(),
  blacklists: Type.Array(BlacklistItem, { description: 'Listed first, then by category.' }),
  /** The time of the oldest answer, which may come from the cache. */
  checkedAt: Timestamp,
  durationMs: Type.Integer(),
  warnings: Type.Array(Type.String(), {
    description: 'Limits of the result, each with an action.',
  }),
})
export type BlacklistResult = Static<typeof BlacklistResult>

/** The data of a `sweep` event. */
export const BlacklistProgress = Type.Object({
  total: Type.Integer({ description: 'Number of lists that are queried.' }),
  data: BlacklistResult,
  receipt: Nullable(
    Type.String({ description: 'The receipt, in the last event only. Null before.' }),
  ),
})

// --- dmarc-check ---

export const MailAuthQuery = Type.Object({
  domain: Type.String({
    maxLength: MAX_LENGTH.host,
    description: 'The domain of email addresses (after the @), as U-labels or A-labels.',
  }),
  selector: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 20,
      description: 'DKIM selectors to try before the known ones. Can be repeated.',
    }),
  ),
  ip: Type.Optional(
    Type.Array(Type.String({ maxLength: 45 }), {
      maxItems: 10,
      description: 'Addresses of servers for which to evaluate the SPF record. Can be repeated.',
    }),
  ),
})

const LookupError = Type.Optional(
  Type.String({
    description:
      'Why the query failed (`SERVFAIL`, `TIMEOUT`, …). `found: false` is then not a result.',
  }),
)
const found = {
  found: Type.Boolean(),
  record: Nullable(Type.String({ description: 'The TXT record, its strings joined.' })),
  error: LookupError,
}

const DmarcItem = Type.Object({
  ...found,
  tags: Type.Record(Type.String(), Type.String(), {
    description: 'Values by tag name, as published.',
  }),
  tagsExplained: Type.Array(
    Type.Object({ tag: Type.String(), value: Type.String(), meaning: Type.String() }),
  ),
  inheritedFrom: Nullable(
    Type.String({
      description: 'The parent domain that publishes the record. Null if this domain does.',
    }),
  ),
  effectivePolicy: Nullable(
    Type.Enum([...DMARC_POLICIES], {
      description:
        'How receivers treat mail from exactly this domain that fails DMARC, with `sp`, `np` and `t` applied.',
    }),
  ),
  organizationalDomain: Type.String({ description: 'Determined by the tree walk of RFC 9989.' }),
  destinations: Type.Array(
    Type.Object({
      tag: Type.Enum(['rua', 'ruf']),
      uri: Type.String(),
      name: Nullable(
        Type.String({
          description:
            'The name at which another organisation must authorize the reports (RFC 9990).',
        }),
      ),
      authorized: Nullable(Type.Boolean({ description: 'Null if the query failed.' })),
      error: LookupError,
    }),
    { description: 'Destinations of reports, and whether they accept reports for this domain.' },
  ),
})

const SpfItem = Type.Object({
  ...found,
  lookups: Type.Integer({
    description:
      'Maximum number of DNS lookups for a receiver, with all includes. The limit is 10.',
  }),
  voidLookups: Type.Integer({
    description: 'Lookups among these that find nothing. The limit is 2.',
  }),
  all: Nullable(
    Type.String({ description: 'The end of the record: `-all`, `~all`, `?all` or `+all`.' }),
  ),
  errors: Type.Array(
    Type.Object({
      at: Type.Integer({ description: 'Offset in the record, from 0.' }),
      text: Type.String(),
      message: Type.String(),
    }),
  ),
  includes: Type.Array(
    Type.Object({
      domain: Type.String(),
      via: Type.String({ description: 'The term that includes this record.' }),
      depth: Type.Integer({ description: '1 for the includes of the domain itself.' }),
      lookups: Type.Integer({ description: 'Lookups of this record and all records below it.' }),
      record: Nullable(Type.String()),
      problem: Nullable(
        Type.String({ description: '`missing`, `several`, `loop`, `macro` or `untried`.' }),
      ),
      error: LookupError,
    }),
    { description: 'The tree of includes and redirects, parents before children.' },
  ),
  senders: Type.Optional(
    Type.Array(
      Type.Object({
        ip: Type.String(),
        result: Type.Enum([...SPF_RESULTS], { description: 'The SPF result (RFC 7208, 2.6).' }),
        domain: Nullable(
          Type.String({ description: 'The domain of the record that decided, after redirects.' }),
        ),
        term: Nullable(Type.String({ description: 'The mechanism that matched.' })),
        reason: Nullable(Type.String({ description: 'Why no mechanism decided.' })),
        explanation: Nullable(
          Type.String({
            description: 'The explanation that the domain publishes for rejected senders.',
          }),
        ),
      }),
      {
        description:
          'The SPF result for each `ip` and mail from the domain’s postmaster. Only with `ip`.',
      },
    ),
  ),
})

const DkimItem = Type.Object({
  selector: Type.String(),
  ...found,
  provider: Type.Optional(
    Nullable(Type.String({ description: 'The provider known to use this selector.' })),
  ),
  alias: Type.Optional(Nullable(Type.String({ description: 'The target of a CNAME.' }))),
  keyType: Type.Optional(Type.String({ description: '`rsa` or `ed25519`.' })),
  keyBits: Type.Optional(
    Nullable(Type.Integer({ description: 'Null if the key cannot be parsed.' })),
  ),
  revoked: Type.Optional(Type.Boolean()),
  testing: Type.Optional(Type.Boolean()),
  wildcard: Type.Optional(
    Type.Boolean({ description: 'True if every selector returns the same record.' }),
  ),
  errors: Type.Optional(
    Type.Array(Type.String(), { description: 'Why receivers reject the key.' }),
  ),
})

export const MailAuthResult = Type.Object({
  domain: Type.String({ description: 'The checked name, in A-labels.' }),
  unicodeDomain: Type.String({ description: 'The same name in Unicode.' }),
  status: Nullable(
    Type.Enum(['NOERROR', 'NXDOMAIN'], {
      description: '`NXDOMAIN`: the name does not exist. Null: the query failed.',
    }),
  ),
  dmarc: DmarcItem,
  spf: SpfItem,
  dkim: Type.Array(DkimItem, {
    description:
      'The keys found, then the ten most common selectors and the requested ones without a key.',
  }),
  dkimSelectorsTried: Type.Integer(),
  mtaSts: Type.Object({
    ...found,
    id: Nullable(Type.String()),
    policy: Nullable(
      Type.Object({
        mode: Nullable(Type.Enum([...STS_MODES])),
        mx: Type.Array(Type.String()),
        maxAge: Nullable(Type.Integer({ description: 'Seconds.' })),
      }),
    ),
    policyError: Type.Optional(
      Type.String({ description: 'Why the policy could not be fetched.' }),
    ),
  }),
  tlsRpt: Type.Object({ ...found, rua: Type.Array(Type.String()) }),
  bimi: Type.Object({
    ...found,
    logo: Nullable(Type.String()),
    certificate: Nullable(Type.String()),
    missing: Type.Array(Type.String(), {
      description: 'Requirements for the logo that are not met.',
    }),
  }),
  truncated: Type.Array(Type.String(), {
    description: 'Parts that were not checked in time. Empty if the check is complete.',
  }),
  durationMs: Type.Integer(),
  warnings: Type.Array(
    Type.Object({
      about: Type.Enum([...ADVICE_SUBJECTS]),
      severity: Type.Enum([...SEVERITIES], {
        description:
          '`error`: does not work. `warning`: works with limitations. `info`: a suggestion.',
      }),
      message: Type.String(),
      publish: Type.Optional(
        Type.Object(
          { name: Type.String(), type: Type.Literal('TXT'), value: Type.String() },
          { description: 'The record to publish.' },
        ),
      ),
    }),
    { description: 'Problems and suggestions, most severe first.' },
  ),
})
export type MailAuthResult = Static<typeof MailAuthResult>

// --- service/health ---

const Finding = Type.Object({
  about: Type.String({ description: 'The checked part of the service.' }),
  state: Type.Enum(['good', 'doubtful', 'bad']),
  sentence: Type.String({ description: 'The result, and how to fix a problem.' }),
})

const JobFigures = Type.Object({
  name: Type.String(),
  later: Type.Integer({ description: 'Jobs scheduled for later.' }),
  ready: Type.Integer({ description: 'Jobs waiting for a free worker.' }),
  running: Type.Integer(),
  failed: Type.Integer({ description: 'Jobs that failed permanently in the last 24 hours.' }),
})

export const Health = Type.Object(
  {
    version: Type.String(),
    upSince: Timestamp,
    findings: Type.Array(Finding),
    database: Type.Object({ version: Type.String(), bytes: Type.Integer() }),
    jobs: Type.Array(JobFigures),
  },
  {
    examples: [
      {
        version: '1.0.0',
        upSince: '2026-11-21T12:00:00.000Z',
        findings: [{ about: 'DNS', state: 'good', sentence: '127.0.0.1:53 answers in 2 ms.' }],
        database: { version: '18.1', bytes: 48_123_904 },
        jobs: [{ name: 'migration.run', later: 0, ready: 0, running: 2, failed: 0 }],
      },
    ],
  },
)
export type Health = Static<typeof Health>

// --- shared results ---

export const Receipt = Type.String({
  maxLength: 100,
  description: 'Proof that this service returned the result. Send it with the result to share it.',
})

export const NewShare = Type.Object({
  results: Type.Array(
    Type.Object({
      check: Type.String({
        maxLength: 40,
        description: 'The name of the check: `dns`, `ssl`, `blacklist`, `dmarc` or `domain`.',
      }),
      data: Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: 100,
        description: 'The data as returned by the check.',
      }),
      receipt: Receipt,
    }),
    { minItems: 1, maxItems: 4 },
  ),
})

export const SharedCheck = Type.Object({
  token: Type.String(),
  url: Type.String({ description: 'The link to share.' }),
  target: Type.String({ description: 'The domain or address of the results.' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
})

export const SharedChecks = Type.Array(SharedCheck)

export const SharedResults = Type.Object({
  ...SharedCheck.properties,
  results: Type.Array(
    Type.Object({
      check: Type.String(),
      madeAt: Timestamp,
      data: Type.Unknown({ description: 'The data as the check returned it.' }),
    }),
  ),
})

nameComponents({
  DnsResult,
  TlsResult,
  BlacklistItem,
  BlacklistResult,
  BlacklistProgress,
  MailAuthResult,
  Health,
  NewShare,
  SharedCheck,
  SharedResults,
})

import { Type, type Static } from 'typebox'
import { MAX_LENGTH, nameComponents, Nullable, Timestamp } from '../http/schema.ts'
import { STARTTLS } from '../net/starttls.ts'
import { ADVICE_SUBJECTS, SEVERITIES } from '../protocols/advice.ts'
import { DMARC_POLICIES } from '../protocols/dmarc.ts'
import { CATEGORIES } from '../protocols/dnsbl-catalogue.ts'
import { STS_MODES } from '../protocols/mta-sts.ts'
import { SPF_RESULTS } from '../protocols/spf-evaluate.ts'

// --- dns-check ---

export const DnsQuery = Type.Object({
  domain: Type.String({
    maxLength: MAX_LENGTH.host,
    description: 'A domain name, as U-labels or A-labels, with or without the final dot.',
  }),
})

export const DnsResult = Type.Object({
  domain: Type.String({ description: 'The name that was asked for, in A-labels.' }),
  unicodeDomain: Type.String({ description: 'The same name as people write it.' }),
  status: Type.Enum(['NOERROR', 'NXDOMAIN'], { description: '`NXDOMAIN`: there is no such name.' }),
  a: Type.Array(Type.String(), { description: 'IPv4 addresses.' }),
  aaaa: Type.Array(Type.String(), { description: 'IPv6 addresses.' }),
  mx: Type.Array(Type.Object({ exchange: Type.String(), priority: Type.Integer() }), {
    description: 'Mail servers, first the one to try first. A null MX has the exchange `.` (RFC 7505).',
  }),
  txt: Type.Array(Type.String(), { description: 'One item a record, its strings joined.' }),
  cname: Type.Array(Type.String(), { description: 'The names this one is an alias for, in the order of the chain.' }),
  ns: Type.Array(Type.String(), { description: 'Name servers.' }),
  soa: Nullable(
    Type.Object({
      mname: Type.String({ description: 'Primary name server.' }),
      rname: Type.String({ description: 'Mailbox of the person responsible, written as a name.' }),
      serial: Type.Integer(),
      refresh: Type.Integer(),
      retry: Type.Integer(),
      expire: Type.Integer(),
      minimum: Type.Integer({ description: 'Seconds for which “there is no such record” may be kept.' }),
    }),
  ),
  caa: Type.Array(Type.Object({ flags: Type.Integer(), tag: Type.String(), value: Type.String() }), {
    description: 'Who may issue certificates for the name (RFC 8659).',
  }),
  ttl: Type.Integer({ description: 'Seconds for which all of this may be kept: the least of the answers.' }),
  errors: Type.Record(Type.String(), Type.String(), {
    description: 'The types that could not be asked and why: `{"mx": "SERVFAIL"}`. Their arrays are empty, not known.',
  }),
  durationMs: Type.Integer(),
  warnings: Type.Array(Type.String(), { description: 'What is wrong or odd, in plain words.' }),
})
export type DnsResult = Static<typeof DnsResult>

// --- ssl-check ---

export const TlsQuery = Type.Object({
  domain: Type.String({ maxLength: MAX_LENGTH.host, description: 'A host name or an IP address.' }),
  port: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65535,
      description: '443, or with `starttls` the usual port of its protocol.',
    }),
  ),
  starttls: Type.Optional(
    Type.Enum([...STARTTLS], { description: 'The protocol in which TLS begins after a plain greeting.' }),
  ),
})

const Attributes = Type.Record(Type.String(), Type.String(), { description: 'Attribute name (`CN`, `O`) to value.' })
const certificate = {
  subject: Attributes,
  issuer: Attributes,
  validFrom: Timestamp,
  validTo: Timestamp,
  serialNumber: Type.String({ description: 'Hex pairs with colons.' }),
  fingerprint256: Type.String({ description: 'SHA-256 of the certificate, hex pairs with colons.' }),
}

export const TlsResult = Type.Object({
  domain: Type.String({ description: 'The host that was asked for, in A-labels, or the address.' }),
  ...certificate,
  daysRemaining: Type.Integer({ description: 'Whole days until `validTo`, rounded down: negative once expired.' }),
  isExpired: Type.Boolean(),
  subjectAltNames: Type.Array(Type.String(), { description: 'Names and addresses the certificate is for.' }),
  protocol: Type.String(),
  cipher: Type.Object({
    name: Type.String(),
    version: Type.String({ description: 'The protocol version that first defined the cipher.' }),
    standardName: Type.String({ description: 'Its name in the IANA registry.' }),
  }),
  authorized: Type.Boolean({ description: 'Trusted root, valid now, and for this host.' }),
  authorizationError: Nullable(
    Type.String({ description: 'The first reason why not, as OpenSSL and Node.js call it.' }),
  ),
  hostnameMatches: Type.Boolean(),
  chain: Type.Array(Type.Object({ ...certificate, isCa: Type.Boolean() }), {
    description: 'From the server’s certificate towards the root; a trusted root is there though it was not sent.',
  }),
  keyType: Nullable(Type.String({ description: '`rsa`, `ec`, `ed25519`, …' })),
  keyBits: Nullable(Type.Integer()),
  signatureAlgorithm: Nullable(Type.String()),
  address: Type.String({ description: 'The address that was connected to.' }),
  port: Type.Integer(),
  starttls: Nullable(Type.Enum([...STARTTLS])),
  handshakeMs: Type.Integer(),
  warnings: Type.Array(Type.String(), { description: 'What is wrong or will be soon, and what to do.' }),
})
export type TlsResult = Static<typeof TlsResult>

// --- blacklist-check ---

export const BlacklistItem = Type.Object({
  name: Type.String(),
  dnsbl: Type.String({ description: 'Zone of the blacklist.' }),
  listed: Type.Boolean(),
  category: Type.Enum([...CATEGORIES], { description: 'How much a listing matters.' }),
  status: Type.Enum(['listed', 'clean', 'unknown'], {
    description: '`unknown`: the list could not be asked, or its answer cannot be believed. It is never counted clean.',
  }),
  codes: Type.Array(Type.String(), { description: 'The addresses the list answered with, such as 127.0.0.2.' }),
  meanings: Type.Array(Type.String(), { description: 'What the list documents about these codes.' }),
  reason: Nullable(Type.String({ description: 'The text the list gives with a listing.' })),
  detail: Nullable(Type.String({ description: 'Why unknown, or what is odd about the list.' })),
  delistUrl: Nullable(Type.String({ description: 'Page to ask for removal, or to look the address up.' })),
  health: Type.Enum(['healthy', 'no-test-entry', 'refusing', 'failing', 'dead', 'wildcard'], {
    description: 'Whether the list shows its test entries (RFC 5782, section 5).',
  }),
  ttl: Type.Integer({ description: 'Seconds for which the answer may still be kept.' }),
})
export type BlacklistItem = Static<typeof BlacklistItem>

export const BlacklistResult = Type.Object({
  ip: Type.String(),
  totalChecked: Type.Integer({ description: 'All lists consulted: listed, clean and unknown.' }),
  listedCount: Type.Integer(),
  cleanCount: Type.Integer(),
  unknownCount: Type.Integer(),
  blacklists: Type.Array(BlacklistItem, { description: 'Listed first, then by category.' }),
  /** When the oldest of these answers was given. */
  checkedAt: Timestamp,
  durationMs: Type.Integer(),
  warnings: Type.Array(Type.String(), { description: 'What to know before believing the result, and what to do.' }),
})
export type BlacklistResult = Static<typeof BlacklistResult>

/** The event `sweep` of a check that is followed. */
export const BlacklistProgress = Type.Object({
  total: Type.Integer({ description: 'Lists that are asked.' }),
  data: BlacklistResult,
  receipt: Nullable(
    Type.String({ description: 'Null as long as answers are missing; with the last event a receipt.' }),
  ),
})

// --- dmarc-check ---

export const MailAuthQuery = Type.Object({
  domain: Type.String({
    maxLength: MAX_LENGTH.host,
    description: 'The domain behind the @ of mail addresses, as U-labels or A-labels.',
  }),
  selector: Type.Optional(
    Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 20,
      description: 'DKIM selectors to try before the known ones; may be repeated.',
    }),
  ),
  ip: Type.Optional(
    Type.Array(Type.String({ maxLength: 45 }), {
      maxItems: 10,
      description: 'Addresses of servers: may they send for the domain by its SPF record? May be repeated.',
    }),
  ),
})

const LookupError = Type.Optional(
  Type.String({ description: 'The question failed (`SERVFAIL`, `TIMEOUT`, …): “not found” is then not known.' }),
)
const found = {
  found: Type.Boolean(),
  record: Nullable(Type.String({ description: 'The TXT record, its strings joined.' })),
  error: LookupError,
}

const DmarcItem = Type.Object({
  ...found,
  tags: Type.Record(Type.String(), Type.String(), { description: 'Tag name to value, as published.' }),
  tagsExplained: Type.Array(Type.Object({ tag: Type.String(), value: Type.String(), meaning: Type.String() })),
  inheritedFrom: Nullable(Type.String({ description: 'The domain above that publishes the record; null: this one.' })),
  effectivePolicy: Nullable(
    Type.Enum([...DMARC_POLICIES], {
      description:
        'What receivers do with mail of this very name that fails: `sp`, `np` and `t` are taken into account.',
    }),
  ),
  organizationalDomain: Type.String({ description: 'Found by the tree walk of RFC 9989.' }),
  destinations: Type.Array(
    Type.Object({
      tag: Type.Enum(['rua', 'ruf']),
      uri: Type.String(),
      name: Nullable(Type.String({ description: 'Where the consent of another organisation must stand (RFC 9990).' })),
      authorized: Nullable(Type.Boolean({ description: 'Null: could not be asked.' })),
      error: LookupError,
    }),
    { description: 'Where reports go, and whether they are welcome there.' },
  ),
})

const SpfItem = Type.Object({
  ...found,
  lookups: Type.Integer({
    description: 'DNS look-ups that receivers need at most, with all includes; 10 are allowed.',
  }),
  voidLookups: Type.Integer({ description: 'Of these, the ones that find nothing; 2 are allowed.' }),
  all: Nullable(Type.String({ description: 'How the record ends: `-all`, `~all`, `?all` or `+all`.' })),
  errors: Type.Array(
    Type.Object({
      at: Type.Integer({ description: 'Where in the record, from 0.' }),
      text: Type.String(),
      message: Type.String(),
    }),
  ),
  includes: Type.Array(
    Type.Object({
      domain: Type.String(),
      via: Type.String({ description: 'The term that leads there.' }),
      depth: Type.Integer({ description: '1 for what the domain itself includes.' }),
      lookups: Type.Integer({ description: 'Of this record and all below it.' }),
      record: Nullable(Type.String()),
      problem: Nullable(Type.String({ description: '`missing`, `several`, `loop`, `macro` or `untried`.' })),
      error: LookupError,
    }),
    { description: 'The tree of includes and redirects, each record before those below it.' },
  ),
  senders: Type.Optional(
    Type.Array(
      Type.Object({
        ip: Type.String(),
        result: Type.Enum([...SPF_RESULTS], { description: 'As receivers find it (RFC 7208, 2.6).' }),
        domain: Nullable(Type.String({ description: 'Whose record decided, after redirects.' })),
        term: Nullable(Type.String({ description: 'The mechanism of that record that matched.' })),
        reason: Nullable(Type.String({ description: 'Why there is no mechanism that decided.' })),
        explanation: Nullable(Type.String({ description: 'What the domain wants to be said to a rejected sender.' })),
      }),
      { description: 'What SPF says of each `ip` for mail of the domain’s postmaster. Only when asked for.' },
    ),
  ),
})

const DkimItem = Type.Object({
  selector: Type.String(),
  ...found,
  provider: Type.Optional(Nullable(Type.String({ description: 'Who is known to use this selector.' }))),
  alias: Type.Optional(Nullable(Type.String({ description: 'Where a CNAME leads.' }))),
  keyType: Type.Optional(Type.String({ description: '`rsa` or `ed25519`.' })),
  keyBits: Type.Optional(Nullable(Type.Integer({ description: 'Null: the key cannot be read.' }))),
  revoked: Type.Optional(Type.Boolean()),
  testing: Type.Optional(Type.Boolean()),
  wildcard: Type.Optional(Type.Boolean({ description: 'The same record answers for every selector.' })),
  errors: Type.Optional(Type.Array(Type.String(), { description: 'Why receivers refuse the key.' })),
})

export const MailAuthResult = Type.Object({
  domain: Type.String({ description: 'The name that was asked for, in A-labels.' }),
  unicodeDomain: Type.String({ description: 'The same name as people write it.' }),
  status: Nullable(
    Type.Enum(['NOERROR', 'NXDOMAIN'], {
      description: '`NXDOMAIN`: there is no such name. Null: it could not be asked.',
    }),
  ),
  dmarc: DmarcItem,
  spf: SpfItem,
  dkim: Type.Array(DkimItem, {
    description: 'What was found, then the ten commonest selectors and the asked-for ones that were not.',
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
    policyError: Type.Optional(Type.String({ description: 'Why the policy could not be fetched.' })),
  }),
  tlsRpt: Type.Object({ ...found, rua: Type.Array(Type.String()) }),
  bimi: Type.Object({
    ...found,
    logo: Nullable(Type.String()),
    certificate: Nullable(Type.String()),
    missing: Type.Array(Type.String(), { description: 'What the logo still lacks to be shown.' }),
  }),
  truncated: Type.Array(Type.String(), {
    description: 'What was left out for lack of time; empty when all was asked.',
  }),
  durationMs: Type.Integer(),
  warnings: Type.Array(
    Type.Object({
      about: Type.Enum([...ADVICE_SUBJECTS]),
      severity: Type.Enum([...SEVERITIES], {
        description: '`error`: it does not work. `warning`: it works worse than it could. `info`: good to know.',
      }),
      message: Type.String(),
      publish: Type.Optional(
        Type.Object(
          { name: Type.String(), type: Type.Literal('TXT'), value: Type.String() },
          { description: 'The record to publish instead.' },
        ),
      ),
    }),
    { description: 'What is wrong or could be better, gravest first.' },
  ),
})
export type MailAuthResult = Static<typeof MailAuthResult>

// --- service/health ---

const Finding = Type.Object({
  about: Type.String({ description: 'The part of the service that was looked at.' }),
  state: Type.Enum(['good', 'doubtful', 'bad']),
  sentence: Type.String({ description: 'What was found, and how to mend it.' }),
})

const JobFigures = Type.Object({
  name: Type.String(),
  later: Type.Integer({ description: 'Wait for their time.' }),
  ready: Type.Integer({ description: 'Wait for a free worker.' }),
  running: Type.Integer(),
  failed: Type.Integer({ description: 'Failed for good within the last day.' }),
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
  description: 'Proof that this service gave you this result: send it along to share the result.',
})

export const NewShare = Type.Object({
  results: Type.Array(
    Type.Object({
      check: Type.String({
        maxLength: 40,
        description: 'The name of the check: `dns`, `ssl`, `blacklist` or `dmarc`.',
      }),
      data: Type.Record(Type.String(), Type.Unknown(), { maxProperties: 100, description: 'As the check answered.' }),
      receipt: Receipt,
    }),
    { minItems: 1, maxItems: 4 },
  ),
})

export const SharedCheck = Type.Object({
  token: Type.String(),
  url: Type.String({ description: 'What to pass on.' }),
  target: Type.String({ description: 'The name or address the results are about.' }),
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
      data: Type.Unknown({ description: 'As the check answered then.' }),
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

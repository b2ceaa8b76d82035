import { Type, type Static } from 'typebox'
import {
  DayOrMoment,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Success,
  Timestamp,
  Uuid,
  OrderOf,
} from '../http/http-schema.ts'
import { Labels } from '../http/labels.ts'
import { ImportReport, MAX_IMPORT_ENTRIES } from '../http/shapes.ts'
import { MAX_DELIVERY_BYTES, MAX_DOMAINS, MAX_SUMMARY_DAYS, MAX_UPLOAD_FILES } from './limits.ts'
import { REPORT_ORDERS } from './reports/dmarc-reports.sql.ts'
import { PERIODS } from './summary/periods.ts'

const Text = Type.String()
const Count = Type.Integer({ minimum: 0 })
const Word = Nullable(Text)
const Day = Type.String({ format: 'date' })

export const DomainsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_DOMAINS,
      description: 'Only the first. Default: all.',
    }),
  ),
})

export const NewDomain = Type.Object(
  { domain: Type.String({ minLength: 1, maxLength: 300 }) },
  { examples: [{ domain: 'example.com' }] },
)

/** Domains to add at once. An entry that is no domain has a result of its own. */
export const NewDomains = Type.Object(
  {
    entries: Type.Array(Type.Object({ domain: Type.String({ maxLength: 300 }) }), {
      minItems: 1,
      maxItems: MAX_IMPORT_ENTRIES,
    }),
  },
  { examples: [{ entries: [{ domain: 'example.com' }] }] },
)

const DOMAIN = {
  id: Uuid,
  domain: Type.String({ description: 'The domain in A-labels (Punycode).' }),
  verified: Type.Boolean({
    description: 'Whether the workspace has proven that it controls the domain.',
  }),
  verifiedBy: Nullable(
    Type.Enum(['txt', 'rua'], {
      description: 'How: the TXT challenge, or `reportEmail` in the `rua`.',
    }),
  ),
  reportEmail: Nullable(
    Type.String({
      description:
        'The email address that receives the domain’s reports. Null while REPORT_DOMAIN is not a public name: no report can arrive by mail.',
    }),
  ),
  totalReports: Type.Integer({ description: 'Number of aggregate reports, without duplicates.' }),
  totalTlsReports: Count,
  totalFailureReports: Type.Integer({
    description:
      'Number of failure reports. They contain mail, so they are counted but not stored.',
  }),
  rejectedToday: Type.Object(
    {
      total: Count,
      unreadable: Type.Integer({ minimum: 0, description: 'Not a report, or damaged.' }),
      otherDomain: Type.Integer({
        minimum: 0,
        description: 'For a domain that is not in this workspace.',
      }),
      overLimit: Type.Integer({
        minimum: 0,
        description: 'Emails rejected because a daily limit was reached.',
      }),
    },
    {
      description:
        'Items sent to `reportEmail` today (UTC) that were not stored. `/dmarc/rejected` lists a sample.',
    },
  ),
  labels: Labels,
  reported: Nullable(Type.Object({ from: Day, to: Day }), {
    description: 'First and last day that its stored reports cover. Null without reports.',
  }),
  policy: Nullable(
    Type.String({
      description: 'The policy (`p`) that the newest report found published. Null without one.',
    }),
  ),
  last30Days: Type.Object(
    { messages: Count, aligned: Count },
    {
      description:
        'Messages of the last 30 days in its reports, and how many of them passed DMARC.',
    },
  ),
  lastReportAt: Nullable(Timestamp),
  createdAt: Timestamp,
}
const EXAMPLE_DOMAIN = {
  id: '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11',
  domain: 'example.com',
  verified: true,
  verifiedBy: 'rua',
  reportEmail: 'rq4x7tkz2mdw5oy3nb@reports.example.net',
  totalReports: 1204,
  totalTlsReports: 31,
  totalFailureReports: 0,
  rejectedToday: { total: 3, unreadable: 2, otherDomain: 1, overLimit: 0 },
  labels: ['production'],
  reported: { from: '2026-03-01', to: '2026-11-20' },
  policy: 'quarantine',
  last30Days: { messages: 48210, aligned: 48061 },
  lastReportAt: '2026-11-21T06:12:44.310Z',
  createdAt: '2026-03-02T09:00:00.000Z',
}

export const DmarcDomain = Type.Object(DOMAIN, { examples: [EXAMPLE_DOMAIN] })

/** A domain with the records to publish for it. */
export const PublishedDomain = Type.Object({
  ...DOMAIN,
  verification: Type.Object({ name: Text, type: Type.Literal('TXT'), value: Text }),
  record: Type.String({
    description:
      'The DMARC record to publish, the same as in `fixes` of `/domains/{domain}`: the current one with `reportEmail` and corrections.',
  }),
  tlsRecord: Nullable(
    Type.String({
      description:
        'The TLS reporting record (RFC 8460) to publish at `_smtp._tls`. Null without `reportEmail`.',
    }),
  ),
  dns: Type.Object(
    {
      name: Type.String({ description: 'The DNS name at which to publish `record`.' }),
      published: Nullable(Text),
      configured: Nullable(
        Type.Boolean({
          description: 'Whether the published record sends reports to `reportEmail`.',
        }),
      ),
      destination: Type.Object(
        {
          required: Type.Boolean(),
          name: Nullable(Text),
          expected: Text,
          found: Nullable(Text),
          authorized: Nullable(Type.Boolean()),
        },
        {
          description:
            'The operator’s record that accepts reports on this domain (RFC 9990, section 4).',
        },
      ),
      checkedAt: Nullable(Timestamp, { description: 'When DNS was queried. Null: no answer yet.' }),
    },
    {
      description:
        'The DNS records as of `checkedAt`. Null: DNS did not respond, or has not responded yet.',
    },
  ),
  problem: Nullable(Type.String({ description: 'Why the domain is not verified.' })),
})

const Disposition = Type.Object({ none: Count, quarantine: Count, reject: Count })
const Via = Nullable(Type.Enum(['smtp', 'upload', 'mailbox', 'import']))
const Authentication = Nullable(
  Type.Object(
    {
      from: Word,
      spf: Type.Object({ result: Text, domain: Word }),
      dkim: Type.Object({ result: Text, domain: Word }),
      dmarc: Type.Object({ result: Text, policy: Word }),
    },
    {
      description:
        'SPF, DKIM and DMARC results of the email that carried the report. Null for files, and until checked.',
    },
  ),
)

export const AggregateRecord = Type.Object({
  sourceIp: Text,
  count: Count,
  policyEvaluated: Type.Object({
    disposition: Word,
    dkim: Word,
    spf: Word,
    reasons: Type.Array(Type.Object({ type: Word, comment: Word })),
  }),
  identifiers: Type.Object({ headerFrom: Word, envelopeFrom: Word, envelopeTo: Word }),
  authResults: Type.Object({
    dkim: Type.Array(
      Type.Object({ domain: Word, selector: Word, result: Word, humanResult: Word }),
    ),
    spf: Type.Array(Type.Object({ domain: Word, scope: Word, result: Word, humanResult: Word })),
  }),
  result: Type.Enum(['pass', 'fail'], {
    description: '`pass` if the receiver found DKIM or SPF aligned.',
  }),
  outside: Type.Boolean({
    description:
      'Whether `headerFrom` is outside this domain. Such records are not in the summary.',
  }),
})

export const AggregateReport = Type.Object({
  id: Uuid,
  reportId: Text,
  orgName: Text,
  email: Word,
  extraContactInfo: Word,
  dateRange: Type.Object({ begin: Timestamp, end: Timestamp }),
  errors: Type.Array(Text),
  policyPublished: Type.Object({
    domain: Text,
    discoveryMethod: Word,
    p: Word,
    sp: Word,
    np: Word,
    adkim: Word,
    aspf: Word,
    pct: Word,
    fo: Word,
    testing: Word,
  }),
  version: Word,
  generator: Word,
  namespace: Word,
  records: Type.Array(AggregateRecord, {
    description: 'The first 500 records; continue at `…/records?page=2`.',
  }),
  recordCount: Count,
  skippedRecords: Type.Integer({
    description: 'Number of records without a readable address or count.',
  }),
  totals: Type.Object(
    {
      messages: Count,
      pass: Count,
      fail: Count,
      outside: Type.Integer({
        minimum: 0,
        description: 'Messages of records with `outside: true`, included in `messages`.',
      }),
      disposition: Disposition,
    },
    { description: 'Totals of all records. The summary excludes records with `outside: true`.' },
  ),
  warnings: Type.Array(Text),
  via: Via,
  authentication: Authentication,
  reporterVerified: Nullable(
    Type.Boolean({
      description:
        'Whether the email passed DMARC; null where that is not known. Anyone can send a forged report.',
    }),
  ),
  receivedAt: Timestamp,
})

export const ReportQuery = Type.Object({
  ...PageQuery.properties,
  from: Type.Optional(Type.String(DayOrMoment)),
  to: Type.Optional(Type.String(DayOrMoment)),
  orgName: Type.Optional(
    Type.String({ maxLength: 255, description: 'A part of the name of a reporter.' }),
  ),
  result: Type.Optional(
    Type.Enum(['fail'], {
      title: 'FailedOnly',
      description: 'Only reports with failed messages.',
    }),
  ),
  sort: OrderOf(REPORT_ORDERS),
  records: Type.Boolean({
    default: true,
    description: 'Whether each report has its first 500 records; otherwise `records` is empty.',
  }),
})
export const ReportPage = Success(
  Type.Object({ reports: Type.Array(AggregateReport), pagination: Pagination }),
)
export const RecordPage = Success(
  Type.Object({ records: Type.Array(AggregateRecord), pagination: Pagination }),
)
export const RecordQuery = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
})

const TlsPolicy = Type.Object({
  policyType: Text,
  policyString: Type.Array(Text),
  policyDomain: Text,
  mxHost: Type.Array(Text),
  totalSuccessfulSessionCount: Count,
  totalFailureSessionCount: Count,
  failureDetails: Type.Array(
    Type.Object({
      resultType: Text,
      sendingMtaIp: Word,
      receivingMxHostname: Word,
      receivingMxHelo: Word,
      receivingIp: Word,
      failedSessionCount: Count,
      additionalInformation: Word,
      failureReasonCode: Word,
    }),
  ),
})
const TlsReport = Type.Object({
  id: Uuid,
  reportId: Text,
  organizationName: Text,
  contactInfo: Word,
  dateRange: Type.Object({ begin: Timestamp, end: Timestamp }),
  policies: Type.Array(TlsPolicy),
  skippedPolicies: Type.Integer({ description: 'Number of policies without a domain.' }),
  totals: Type.Object({ successful: Count, failed: Count }),
  via: Via,
  authentication: Authentication,
  receivedAt: Timestamp,
})
export const TlsReportPage = Success(
  Type.Object({ reports: Type.Array(TlsReport), pagination: Pagination }),
)

const AnyFile = {
  description: 'A report, an archive or an email, unmodified.',
  maxLength: MAX_DELIVERY_BYTES,
}
/** A file of any type, or a form with several files. */
export const UploadBody = {
  content: {
    'application/octet-stream': { schema: Type.String({ format: 'binary', ...AnyFile }) },
    'multipart/form-data': {
      schema: Type.Object({
        file: Type.Array(Type.String({ format: 'binary', ...AnyFile }), {
          maxItems: MAX_UPLOAD_FILES,
        }),
      }),
    },
  },
}

/** Domains with new aggregate reports, and the days that these cover. */
const ReportedDomains = Type.Array(
  Type.Object({ id: Uuid, domain: Text, reports: Count, from: Day, to: Day }),
  { description: 'Domains with new aggregate reports, and the days that these cover.' },
)

/** An import, and the reports that were rejected until then. */
export const ImportedDomains = Type.Object({
  ...ImportReport.properties,
  reports: Type.Object(
    { stored: Count, domains: ReportedDomains },
    { description: 'Reports that had been rejected for these domains, and are stored now.' },
  ),
})

export const Uploaded = Success(
  Type.Object({
    stored: Type.Integer({ description: 'Number of aggregate and TLS reports.' }),
    duplicates: Type.Integer({
      description: 'Number of reports that were already stored, in any format.',
    }),
    failureReports: Type.Integer({
      description: 'Number of failure reports. They are counted but not stored.',
    }),
    rejected: Type.Array(
      Type.Object({
        name: Text,
        reason: Text,
        domain: Nullable(Text, {
          description: 'The domain to add to receive the report. Null for another reason.',
        }),
      }),
    ),
    domains: ReportedDomains,
  }),
)

export const RejectedPage = Success(
  Type.Object({
    rejected: Type.Array(
      Type.Object({
        id: Uuid,
        name: Text,
        reason: Text,
        domain: Nullable(Text, {
          description: 'The domain to add to receive the report. Null for another reason.',
        }),
        via: Via,
        kept: Type.Boolean({ description: 'Whether `…/{id}/raw` returns the original.' }),
        receivedAt: Timestamp,
      }),
    ),
    pagination: Pagination,
  }),
)

const COUNTS = {
  messages: Count,
  pass: Type.Integer({ minimum: 0, description: 'Messages aligned by DKIM or SPF.' }),
  fail: Count,
  dkimAligned: Count,
  spfAligned: Count,
  forwarded: Type.Integer({ minimum: 0, description: 'Messages recognized as forwarded.' }),
  disposition: Disposition,
}

export const SOURCE_VERDICTS = [
  'no-data',
  'good',
  'half',
  'forwarder',
  'partly',
  'failing',
] as const

export const SOURCE_GROUPS = ['aligned', 'partly-aligned', 'failing', 'forwarder-like'] as const

const Source = Type.Object({
  sourceIp: Text,
  reverseName: Nullable(Type.String({ description: 'Null: no name, or not looked up yet.' })),
  reverseConfirmed: Type.Boolean({
    description: 'Whether the name resolves to the address. Anyone can claim an unconfirmed name.',
  }),
  organizationalDomain: Nullable(
    Type.String({ description: 'Organizational domain of the reverse name.' }),
  ),
  asn: Nullable(Type.Integer()),
  asName: Word,
  group: Type.Enum([...SOURCE_GROUPS]),
  sender: Type.Object(
    { id: Text, name: Text },
    { description: 'The sender that operates it, in `senders` of the summary.' },
  ),
  ...COUNTS,
  firstDay: Day,
  lastDay: Day,
})

/** How a sender was named. */
export const SENDER_KINDS = ['service', 'own', 'organization', 'address'] as const
export const SENDER_MARKS = ['mine', 'not-mine', 'forwarder'] as const

const Sender = Type.Object({
  id: Text,
  name: Text,
  kind: Type.Enum([...SENDER_KINDS], {
    description:
      '`service`: a known mail service. `own`: hosts below the domain. `organization`: other hosts with confirmed reverse names. `address`: an address without one.',
  }),
  docs: Nullable(Type.String({ description: 'How to set the service up for a domain.' })),
  mark: Nullable(
    Type.Enum([...SENDER_MARKS], {
      description: 'Set by a member; `forwarder` also where all messages were forwarded.',
    }),
  ),
  isMine: Type.Boolean({
    description: 'Marked `mine`; or unmarked, and `own` or with messages that passed.',
  }),
  sources: Count,
  messages: Count,
  pass: Count,
  fail: Count,
})

const Group = Type.Object({ sources: Count, messages: Count })

const Readiness = Type.Object({
  verdict: Type.Enum(['no-data', 'too-early', 'not-ready', 'ready', 'enforced']),
  policy: Nullable(
    Type.Enum(['quarantine', 'reject'], {
      description: 'The next policy, to which the verdict applies.',
    }),
  ),
  published: Word,
  passRate: Nullable(Type.Number({ description: '0 to 1. Null without messages.' })),
  from: Type.String({
    format: 'date',
    description: 'The verdict is about the 30 days that end with the range of the summary.',
  }),
  to: Day,
  sentence: Text,
  undecided: Type.Array(Type.Object({ id: Text, name: Text, messages: Count, fail: Count }), {
    description: 'Senders to mark as yours or not before there can be a verdict.',
  }),
  affected: Type.Array(Type.Object({ sourceIp: Text, name: Word, messages: Count, fail: Count }), {
    description: 'Sources that the next policy would affect, most failures first.',
  }),
})
export type Readiness = Static<typeof Readiness>

export const Summary = Success(
  Type.Object({
    domain: Text,
    from: Day,
    to: Type.String({ format: 'date', description: 'The last day, inclusive.' }),
    totals: Type.Object({ reports: Count, ...COUNTS, passRate: Nullable(Type.Number()) }),
    before: Nullable(
      Type.Object({ from: Day, to: Day, messages: Count, pass: Count, reports: Count }),
      { description: 'The totals of as many days before; null for more than a year.' },
    ),
    days: Type.Array(Type.Object({ day: Day, ...COUNTS }), {
      description: `Every UTC day of the range, including days without messages. Only days with reports where the range has more than ${MAX_SUMMARY_DAYS}.`,
    }),
    sources: Type.Array(Source, {
      description: 'Most failures first, then most messages. Up to 500 sources.',
    }),
    senders: Type.Array(Sender, {
      description: 'The sources above by sender, most failures first.',
    }),
    sourceCount: Count,
    groups: Type.Object({
      aligned: Group,
      'partly-aligned': Group,
      failing: Group,
      'forwarder-like': Group,
    }),
    reporters: Type.Array(Type.Object({ orgName: Text, reports: Count, ...COUNTS, lastDay: Day })),
    selectors: Type.Array(
      Type.Object({ domain: Text, selector: Text, messages: Count, pass: Count, lastDay: Day }),
      {
        description: 'DKIM selectors in the reports that begin within the range.',
      },
    ),
    reported: Nullable(Type.Object({ from: Day, to: Day }), {
      description: 'First and last day that the stored reports cover. Null without reports.',
    }),
    readiness: Readiness,
  }),
)
const DayCounts = Type.Object({ day: Day, messages: Count, pass: Count })
const DailyCounts = {
  messages: Count,
  pass: Count,
  days: Type.Array(DayCounts, { description: 'Days with messages, in order.' }),
}
export const SenderDays = Success(
  Type.Object({
    from: Day,
    to: Type.String({ format: 'date', description: 'The last day, inclusive.' }),
    days: Type.Array(DayCounts, { description: 'All senders together: days with messages.' }),
    senders: Type.Array(
      Type.Object({
        id: Text,
        name: Text,
        kind: Type.Enum([...SENDER_KINDS]),
        mark: Nullable(Type.Enum([...SENDER_MARKS])),
        ...DailyCounts,
      }),
      { description: 'Most messages first.' },
    ),
    others: Type.Object(DailyCounts),
  }),
)
export const SummaryQuery = Type.Object({
  period: Type.Optional(
    Type.Enum([...PERIODS], {
      title: 'ReportPeriod',
      description:
        'Days that end today, in place of `from` and `to`; `all` begins with the first stored report.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      ...DayOrMoment,
      description: 'The first UTC day. Default: a range of 30 days that ends at `to`.',
    }),
  ),
  to: Type.Optional(
    Type.String({
      ...DayOrMoment,
      description: 'The last UTC day. Default: today.',
    }),
  ),
})

const SEEN = { domain: Word, messages: Count }
const FARED = {
  result: Type.String({ description: 'The receivers’ result, before alignment.' }),
  own: Type.Boolean({
    description: 'Whether it shares the organizational domain of the From header.',
  }),
  aligned: Type.Integer({ minimum: 0, description: 'Messages that passed because of it.' }),
}

/** One address that sends as a domain. */
export const SourceDetail = Success(
  Type.Object({
    domain: Text,
    from: Day,
    to: Day,
    source: Nullable(Source),
    days: Type.Array(Type.Object({ day: Day, ...COUNTS }), {
      description: 'Every UTC day of the range, including days without messages.',
    }),
    identities: Type.Object(
      {
        from: Type.Array(Type.Object(SEEN), { description: 'Domains of From headers.' }),
        signers: Type.Array(Type.Object({ ...SEEN, selector: Word, ...FARED }), {
          description: 'DKIM signatures.',
        }),
        envelopes: Type.Array(Type.Object({ ...SEEN, ...FARED }), {
          description: 'Domains of the envelope sender, with their SPF results.',
        }),
        unsigned: Type.Integer({ minimum: 0, description: 'Messages without a DKIM signature.' }),
        records: Type.Integer({
          minimum: 0,
          description: 'Number of newest records that these identities are based on.',
        }),
        recordCount: Type.Integer({ minimum: 0, description: 'Number of all records.' }),
      },
      { description: 'Domains that the source sent and signed as, most messages first.' },
    ),
    advice: Type.Object({
      verdict: Type.Enum([...SOURCE_VERDICTS]),
      sentence: Text,
      steps: Type.Array(
        Type.Object({
          text: Text,
          publish: Nullable(
            Type.Object(
              { name: Text, type: Type.Literal('TXT'), value: Text },
              {
                description:
                  'An addition to the record of that name, or a whole record (`v=…`) where there is none.',
              },
            ),
          ),
        }),
        { description: 'Recommended actions if the source is yours.' },
      ),
      otherwise: Nullable(
        Type.String({ description: 'What applies if you do not recognize the source.' }),
      ),
    }),
  }),
)

const InReport = Type.Object({
  id: Uuid,
  orgName: Text,
  dateRange: Type.Object({ begin: Timestamp, end: Timestamp }),
})
export const SourceRecordPage = Success(
  Type.Object({
    records: Type.Array(Type.Object({ ...AggregateRecord.properties, report: InReport })),
    pagination: Pagination,
  }),
)
export const SourceRecordQuery = Type.Object({
  ...PageQuery.properties,
  ...SummaryQuery.properties,
  orgName: Type.Optional(
    Type.String({ maxLength: 255, description: 'A part of the name of a reporter.' }),
  ),
  result: Type.Optional(Type.Enum(['pass', 'fail'], { title: 'PassOrFail' })),
})

const Secret = Type.String({ minLength: 1, maxLength: 10_000 })
const Folder = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
})
const MAILBOX = {
  host: Type.String({ minLength: 1, maxLength: 255 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, default: 993 }),
  secure: Type.Boolean({ default: true, description: 'Implicit TLS. False: STARTTLS if offered.' }),
  tlsVerify: Type.Boolean({ default: true }),
  user: Type.String({ minLength: 1, maxLength: 500 }),
  folder: Type.String({ ...Folder, default: 'INBOX' }),
}

export const NewMailbox = Type.Object(
  {
    ...MAILBOX,
    password: Type.Optional(
      Type.String({ ...Secret, description: 'Stored encrypted and never returned.' }),
    ),
    credentialId: Type.Optional({
      ...Uuid,
      description: 'A sign-in (`/api/v1/imap/credentials`) in place of a password.',
    } as typeof Uuid),
    moveTo: Type.Optional(
      Type.String({
        ...Folder,
        description: 'Folder to move processed messages to. Without it, they are marked as seen.',
      }),
    ),
  },
  {
    anyOf: [{ required: ['password'] }, { required: ['credentialId'] }],
    examples: [
      {
        host: 'imap.example.com',
        user: 'dmarc@example.com',
        password: 'secret',
        folder: 'INBOX',
        moveTo: 'Done',
      },
    ],
  },
)
export type NewMailbox = Static<typeof NewMailbox>

export const Mailbox = Type.Object({
  id: Uuid,
  ...MAILBOX,
  moveTo: Nullable(Text),
  credentialId: Nullable(Uuid, { description: 'Its sign-in at the provider.' }),
  needsSignIn: Type.Boolean({
    description: 'Reading waits for a new sign-in at the provider.',
  }),
  fetchedAt: Nullable(Timestamp),
  totalMessages: Count,
  lastError: Nullable(Text),
  failingSince: Nullable(Timestamp),
  createdAt: Timestamp,
})

nameComponents({
  NewDmarcDomain: NewDomain,
  NewDmarcDomains: NewDomains,
  DmarcDomain,
  PublishedDomain,
  AggregateReport,
  AggregateRecord,
  TlsReport,
  DmarcSource: Source,
  Disposition,
  Authentication,
  NewMailbox,
  Mailbox,
})

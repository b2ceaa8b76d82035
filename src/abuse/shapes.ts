import { Type } from 'typebox'
import {
  MAX_INTEGER,
  MAX_LENGTH,
  nameComponents,
  Nullable,
  Pagination,
  Success,
  Timestamp,
  Uuid,
} from '../http/http-schema.ts'
import { SHOWN_NAME } from '../http/shown-name.ts'
import { FORMAT_NAMES } from './export/export-formats.ts'
import { FeedListing } from '../public-feeds/shapes.ts'
import { ATTACK_CATEGORIES } from './services.ts'
import { TOKEN_PATTERN } from './tokens/report-tokens.ts'

const STATES = [
  'none',
  'observed',
  'watchlist',
  'listed',
  'delisted',
  'expired',
  'whitelisted',
] as const
const CONFIDENCES = ['none', 'low', 'medium', 'high', 'very-high'] as const

const Ip = Type.String({
  maxLength: MAX_LENGTH.address,
  description: 'A public IPv4 or IPv6 address. IPv6 is scored by /64.',
})
const ListingState = Type.Enum([...STATES])
const ConfidenceLevel = Type.Enum([...CONFIDENCES])
const Score = Type.Number({
  minimum: 0,
  maximum: 100,
  description: '60 or more only while the address is listed.',
})
const Port = Type.Integer({ minimum: 1, maximum: 65_535 })
const Count = Type.Integer({ minimum: 0 })
const ServiceCounts = Type.Array(Type.Object({ service: Type.String(), count: Count }))

const IP = '8.8.4.4'
const MOMENT = '2026-11-21T12:00:00.000Z'
const ID = '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11'
const REPORT_TOKEN = `ar_${'x'.repeat(28)}9Zx4`

// --- reports ---

export const NewReport = Type.Object(
  {
    ip: Ip,
    service: Type.String({
      maxLength: 100,
      description: 'An id or alias of GET /api/v1/abuse/report, such as `ssh` or `sshd`.',
    }),
    port: Type.Optional(Port),
    count: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 1,
      description: 'Number of events.',
    }),
  },
  { examples: [{ ip: IP, service: 'ssh', port: 22, count: 5 }] },
)

export const ReportHeaders = Type.Object({
  'x-report-token': Type.Optional(
    Type.String({
      maxLength: MAX_LENGTH.header,
      description:
        'Adds the report to the statistics of this token. It does not affect the score. `Authorization: Bearer` does the same.',
    }),
  ),
})

export const ReportQuery = Type.Object({
  token: Type.Optional(
    Type.String({
      maxLength: MAX_LENGTH.header,
      description: 'The report token, for clients that send no header of their own.',
    }),
  ),
})

const server = Type.Optional(
  Type.String({
    description: 'The label of the report token for which the report counts.',
    examples: ['web-1'],
  }),
)

const warning = Type.Optional(
  Type.String({ description: 'A problem that did not prevent the report.' }),
)

export const ReportResult = Type.Object(
  {
    success: Type.Literal(true),
    deduped: Type.Boolean({
      description:
        'The same address and service was reported within ten minutes. The report adds to no count.',
    }),
    ignored: Type.Optional(Type.Literal(true, { description: 'The address is on the allowlist.' })),
    ip: Type.String(),
    service: Type.String({ description: 'The id of the service.' }),
    category: Type.Enum([...ATTACK_CATEGORIES]),
    score: Score,
    listingState: ListingState,
    confidenceLevel: ConfidenceLevel,
    server,
    warning,
  },
  {
    examples: [
      {
        success: true,
        deduped: false,
        ip: IP,
        service: 'ssh',
        category: 'bruteforce',
        score: 21.2,
        listingState: 'watchlist',
        confidenceLevel: 'low',
      },
    ],
  },
)

export const BulkReports = Type.String({
  maxLength: 2 * 1024 * 1024,
  description: 'One report per line.',
  examples: [
    '{"ip": "8.8.4.4", "service": "ssh", "count": 5}\n{"ip": "8.8.4.5", "service": "imap"}\n',
  ],
})

export const BulkResult = Success(
  Type.Object(
    {
      accepted: Count,
      deduped: Count,
      ignored: Count,
      rejected: Type.Array(Type.Object({ line: Type.Integer(), error: Type.String() })),
      server,
      warning,
    },
    {
      examples: [
        {
          accepted: 498,
          deduped: 1,
          ignored: 0,
          rejected: [{ line: 7, error: 'The line is not valid JSON.' }],
        },
      ],
    },
  ),
)

export const ServiceList = Success(
  Type.Object({
    services: Type.Array(
      Type.Object({
        id: Type.String(),
        label: Type.String(),
        group: Type.String(),
        defaultPorts: Type.Array(Type.Integer()),
      }),
    ),
    groups: Type.Array(Type.String()),
  }),
)

// --- public information ---

export const CheckQuery = Type.Object({
  ip: Type.String({
    maxLength: MAX_LENGTH.address,
    examples: [IP],
    description: 'A public address.',
  }),
})

/** The public information on an address. */
export const AddressReports = Type.Object(
  {
    ip: Type.String(),
    network: Type.String({
      description: 'The scored network: the address, or the /64 of an IPv6 address.',
    }),
    listed: Type.Boolean(),
    listingState: ListingState,
    score: Score,
    confidenceLevel: ConfidenceLevel,
    totalReports: Count,
    distinctReporters: Type.Integer({
      description: 'Networks (/24, /48) whose evidence counts, up to 200.',
    }),
    firstReportedAt: Nullable(Timestamp),
    lastReportedAt: Nullable(Timestamp),
    services: ServiceCounts,
    evidence: Type.Array(
      Type.Object({
        service: Type.String(),
        port: Nullable(Type.Integer()),
        count: Type.Integer({ description: 'Events.' }),
        at: Timestamp,
        reporter: Type.String({
          description: 'A pseudonym that is valid for this address only.',
        }),
      }),
      { description: 'One item per network and service. Times are rounded to hours.' },
    ),
    publicFeeds: Type.Array(FeedListing, {
      description: 'Entries of enabled public feeds. They do not affect the score.',
    }),
    peers: Type.Array(
      Type.Object({
        name: Type.String(),
        networks: Type.Integer({ description: 'As many as the peer names.' }),
        services: Type.Array(Type.String()),
        lastReportedAt: Timestamp,
      }),
      {
        description:
          'Other installations that report the address. Each counts as one network at most.',
      },
    ),
  },
  {
    examples: [
      {
        ip: IP,
        network: IP,
        listed: false,
        listingState: 'watchlist',
        score: 21.2,
        confidenceLevel: 'low',
        totalReports: 1,
        distinctReporters: 1,
        firstReportedAt: MOMENT,
        lastReportedAt: MOMENT,
        services: [{ service: 'ssh', count: 1 }],
        evidence: [{ service: 'ssh', port: 22, count: 5, at: MOMENT, reporter: 'q3vT1xLk' }],
        publicFeeds: [],
        peers: [],
      },
    ],
  },
)

export const CheckAnswer = Success(AddressReports)

export const StatsAnswer = Success(
  Type.Object({
    totalReports: Count,
    reports24h: Count,
    reports7d: Count,
    listedIps: Count,
    watchlistIps: Count,
    reporters7d: Type.Integer({ description: 'Reporting networks.' }),
    byService: ServiceCounts,
    byGroup: Type.Array(Type.Object({ group: Type.String(), count: Count })),
    perDay: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), count: Count }), {
      description: 'Days (UTC) with reports in the last 30 days, oldest first.',
    }),
  }),
)

export const AttackMapQuery = Type.Object({
  day: Type.Optional(
    Type.String({
      format: 'date',
      maxLength: 10,
      description: 'One UTC day of the last 30. Default: the last seven days, with today.',
    }),
  ),
})
export const AttackMap = Success(
  Type.Object({
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date', description: 'The last day, inclusive.' }),
    reports: Count,
    networks: Type.Array(
      Type.Object({
        network: Type.String({
          description:
            'The autonomous system (`AS64500`) of the attackers, or the IPv4 /16 or IPv6 /32 around them.',
        }),
        name: Type.String({ description: 'The name of the system; empty if it is not known.' }),
        reports: Count,
        services: ServiceCounts,
      }),
      { maxItems: 24, description: 'Most reports first.' },
    ),
    others: Type.Object(
      { networks: Count, reports: Count, services: ServiceCounts },
      { description: 'All other networks together.' },
    ),
  }),
)

export const ExportQuery = Type.Object({
  service: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Returns only addresses that were reported for this service.',
    }),
  ),
  format: Type.Optional(Type.Enum(FORMAT_NAMES, { default: 'plain' })),
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_INTEGER,
      description: 'A version (`X-List-Version`): returns the changes since that version, as JSON.',
    }),
  ),
})

export const Difference = Success(
  Type.Object({
    version: Type.Integer(),
    complete: Type.Boolean({
      description: '`added` is the whole list, because the requested version is too old.',
    }),
    added: Type.Array(Type.String()),
    removed: Type.Array(Type.String()),
  }),
)

/** The list with `format=json`. */
/** The list in the format `cloudflare`. */
export const CloudflareItems = Type.Array(
  Type.Object({ ip: Type.String(), comment: Type.String() }),
)

export const ExportedList = Success(
  Type.Object({
    generatedAt: Timestamp,
    version: Type.Integer(),
    count: Count,
    ips: Type.Array(
      Type.Object({
        ip: Type.String({ description: 'An IPv4 address, or an IPv6 /64.' }),
        score: Score,
        confidenceLevel: ConfidenceLevel,
        services: Type.Array(Type.String()),
        lastReportedAt: Timestamp,
      }),
    ),
  }),
)

export const HoldAnswer = Success(
  Nullable(
    Type.Object({
      countBefore: Count,
      countAfter: Count,
      heldAt: Timestamp,
      approved: Type.Boolean(),
    }),
  ),
)

// --- report tokens ---

export const NewToken = Type.Object(
  { label: Type.Optional(Type.String({ pattern: SHOWN_NAME, maxLength: 100 })) },
  { examples: [{ label: 'web-1' }] },
)

export const IssuedToken = Type.Object(
  {
    success: Type.Literal(true),
    token: Type.String({ description: 'Shown only once; only its hash is stored.' }),
    statsUrl: Type.String(),
    id: Uuid,
    label: Type.String(),
    createdAt: Timestamp,
  },
  {
    examples: [
      {
        success: true,
        token: REPORT_TOKEN,
        statsUrl: `/api/v1/abuse/tokens/${REPORT_TOKEN}`,
        id: ID,
        label: 'web-1',
        createdAt: MOMENT,
      },
    ],
  },
)

export const TokenList = Success(
  Type.Array(
    Type.Object({
      id: Uuid,
      label: Type.String(),
      lastFour: Type.String(),
      createdAt: Timestamp,
      totalReports: Count,
      last7d: Count,
      currentlyListedFromMyReports: Count,
    }),
  ),
)

export const TokenParam = Type.Object({
  token: Type.String({ maxLength: 100, examples: [REPORT_TOKEN], description: TOKEN_PATTERN }),
})

export const Metrics = Type.Object(
  {
    success: Type.Literal(true),
    metrics: Type.Object({
      totalReports: Count,
      last7d: Count,
      currentlyListedFromMyReports: Count,
      byService: ServiceCounts,
    }),
  },
  {
    examples: [
      {
        success: true,
        metrics: {
          totalReports: 412,
          last7d: 31,
          currentlyListedFromMyReports: 12,
          byService: [{ service: 'ssh', count: 412 }],
        },
      },
    ],
  },
)

// --- administrators and appeals ---

const Cidr = Type.String({ maxLength: 49, examples: ['1.1.1.0/24'] })
const RangeLabel = Type.String({ pattern: SHOWN_NAME, maxLength: 200 })
export const EXEMPTION_KINDS = ['whitelist', 'canary', 'shared'] as const

export const NewExemption = Type.Object(
  {
    cidr: Cidr,
    label: Type.Optional(RangeLabel),
    kind: Type.Enum([...EXEMPTION_KINDS], {
      default: 'whitelist',
      description:
        '`whitelist`: never listed. `canary`: never listed, but reports receive the usual answer. ' +
        '`shared`: used by many people; a listing needs more evidence, and it is never exported.',
    }),
  },
  { examples: [{ cidr: '1.1.1.0/24', label: 'A public resolver' }] },
)

export const NewSensor = Type.Object(
  { cidr: Cidr, label: Type.Optional(RangeLabel) },
  { examples: [{ cidr: '9.9.9.9/32', label: 'Our honeypot' }] },
)

export const Range = Type.Object({
  id: Uuid,
  kind: Type.String(),
  cidr: Type.String(),
  label: Type.String(),
  createdAt: Timestamp,
})

export const AbusePageQuery = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
})

export const RangePage = Success(Type.Object({ ranges: Type.Array(Range), pagination: Pagination }))

export const NewAppeal = Type.Object(
  {
    ip: Ip,
    reason: Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: '^[^\\u0000]*[^\\u0000\\s][^\\u0000]*$',
      description: 'The cause of the reports, and the fix.',
      'x-sentence': 'must describe the cause and the fix in up to 2,000 characters',
    }),
  },
  { examples: [{ ip: IP, reason: 'The address was assigned to us yesterday.' }] },
)

export const Appeal = Type.Object({
  id: Uuid,
  address: Type.String(),
  status: Type.Enum(['granted', 'open', 'upheld', 'rejected'], {
    description: '`granted`: delisted at once. `open`: an administrator decides.',
  }),
  createdAt: Timestamp,
  decidedAt: Nullable(Timestamp),
})

export const AppealPage = Success(
  Type.Object({
    appeals: Type.Array(
      Type.Object({ ...Appeal.properties, reason: Type.String(), own: Type.Boolean() }),
    ),
    pagination: Pagination,
  }),
)

export const CandidatePage = Success(
  Type.Object({
    candidates: Type.Array(
      Type.Object({
        address: Type.String({ description: 'An IPv4 address or an IPv6 /64.' }),
        reason: Type.Enum(['unknown_operators', 'appealed', 'well_known'], {
          description:
            '`unknown_operators`: too few reporting networks are known to belong to different operators. ' +
            '`appealed`: an appeal about it was granted in the last 14 days. `well_known`: many services depend on it.',
        }),
        reports: Count,
        networks: Count,
        operators: Type.Integer({
          description: 'Distinct operators of the reporting networks, as far as known.',
        }),
        services: Type.Array(Type.String()),
        firstReportedAt: Timestamp,
        lastReportedAt: Timestamp,
      }),
    ),
    networkTable: Type.Object({
      source: Type.Enum(['shipped', 'configured', 'none']),
      date: Nullable(Type.String({ description: 'The date of the shipped data.' })),
    }),
    pagination: Pagination,
  }),
)

export const CandidateDecision = Type.Object(
  {
    ip: Ip,
    list: Type.Boolean({
      description:
        '`false` deletes the evidence, and the networks that reported the address lose reputation.',
    }),
  },
  { examples: [{ ip: IP, list: true }] },
)

export const Decision = Type.Object(
  {
    upheld: Type.Boolean({
      description: '`true` delists the address, and the networks that reported it lose reputation.',
    }),
  },
  { examples: [{ upheld: true }] },
)

nameComponents({
  NewAttackReport: NewReport,
  AttackReportResult: ReportResult,
  NewReportToken: NewToken,
  IssuedReportToken: IssuedToken,
  ReportTokenMetrics: Metrics,
  NewExemption,
  NewSensor,
  AddressRange: Range,
  NewAppeal,
  Appeal,
  AppealDecision: Decision,
  ExportedList,
  ListDifference: Difference,
})

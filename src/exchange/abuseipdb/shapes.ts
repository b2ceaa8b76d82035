import { Type, type TSchema } from 'typebox'
import { MAX_BODY_BYTES } from '../../http/limits/server-limits.ts'
import { MAX_INTEGER, nameComponents, Nullable } from '../../http/http-schema.ts'

export const FORMS = ['application/x-www-form-urlencoded', 'application/json']

export const describe = (operationId: string, summary: string) => ({
  operationId,
  summary,
  headers: Key,
})

const Key = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 200, description: 'A report token.' })),
})

const Failures = Type.Object({
  errors: Type.Array(
    Type.Object({
      detail: Type.String(),
      status: Type.Integer(),
      source: Type.Optional(Type.Object({ parameter: Type.String() })),
    }),
  ),
})

const failures: Record<string, TSchema> = { '4xx': Failures, '5xx': Failures }

export const responses = <T extends TSchema>(data: T) => ({
  200: Type.Object({ data }),
  ...failures,
})

/** Text, which the route itself reads: its failures name the parameter as AbuseIPDB does. */
const text = (maxLength: number, description?: string) =>
  Type.Optional(Type.String({ maxLength, ...(description && { description }) }))
const ip = text(100, 'Required.')
const age = text(20, 'From 1 to 365; 30 by default.')

export const CheckParameters = Type.Object({
  ipAddress: ip,
  maxAgeInDays: age,
  verbose: text(20, 'Whether to include the reports.'),
})
export const ReportsParameters = Type.Object({
  ipAddress: ip,
  maxAgeInDays: age,
  page: text(20),
  perPage: text(20, 'From 1 to 100; 25 by default.'),
})
export const BlockParameters = Type.Object({
  network: text(100, 'Such as `192.0.2.0/24`. Required.'),
  maxAgeInDays: age,
})
export const BlacklistParameters = Type.Object({
  confidenceMinimum: text(20, 'From 25 to 100.'),
  limit: text(20, '10,000 by default.'),
  plaintext: text(20, 'Whether to answer with one address per line.'),
  onlyCountries: text(1_000),
  exceptCountries: text(1_000),
  ipVersion: text(20, '4 or 6.'),
})

const Category = Type.Number({ maximum: MAX_INTEGER })
const Value = Type.Optional(
  Type.Union([
    Type.String({ maxLength: 2_000 }),
    Category,
    Type.Array(Type.Union([Type.String({ maxLength: 20 }), Category]), { maxItems: 30 }),
  ]),
)
/** Evidence of any length: AbuseIPDB cuts it, and clients send whole logs. */
const comment = Type.Optional(
  Nullable(Type.String({ maxLength: MAX_BODY_BYTES, description: 'Not stored.' })),
)

export const ReportParameters = Type.Object({
  ip,
  categories: text(200, 'Numbers from 1 to 23, separated by commas. Required.'),
  comment,
  timestamp: text(100),
})
export const ReportBody = Type.Object({
  ip,
  categories: Value,
  comment,
  timestamp: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
})
export const BulkBody = Type.Object({ csv: text(2 * 1024 * 1024, 'The file. Required.') })
export const ClearParameters = Type.Object({ ipAddress: ip })
export const ClearBody = Type.Object({ ipAddress: ip })

const Time = Nullable(Type.String())
const Unknown = Type.Null({ description: 'Not known.' })

const Report = Type.Object({
  reportedAt: Time,
  comment: Type.String(),
  categories: Type.Array(Type.Integer()),
  reporterId: Type.Integer({ description: 'A pseudonym that is valid for this address only.' }),
  reporterCountryCode: Unknown,
  reporterCountryName: Unknown,
})

export const CheckResult = Type.Object({
  ipAddress: Type.String(),
  isPublic: Type.Boolean(),
  ipVersion: Type.Integer(),
  isWhitelisted: Nullable(Type.Boolean()),
  abuseConfidenceScore: Type.Integer(),
  countryCode: Unknown,
  usageType: Unknown,
  isp: Nullable(Type.String()),
  domain: Unknown,
  hostnames: Type.Array(Type.String()),
  isTor: Type.Boolean(),
  totalReports: Type.Integer(),
  numDistinctUsers: Type.Integer(),
  lastReportedAt: Time,
  countryName: Type.Optional(Unknown),
  reports: Type.Optional(Type.Array(Report)),
})

export const ReportPage = Type.Object({
  total: Type.Integer(),
  page: Type.Integer(),
  count: Type.Integer(),
  perPage: Type.Integer(),
  lastPage: Type.Integer(),
  nextPageUrl: Nullable(Type.String()),
  previousPageUrl: Nullable(Type.String()),
  results: Type.Array(Report),
})

export const BlockResult = Type.Object({
  networkAddress: Type.String(),
  netmask: Type.String(),
  minAddress: Type.String(),
  maxAddress: Type.String(),
  numPossibleHosts: Type.Number(),
  addressSpaceDesc: Type.String(),
  reportedAddress: Type.Array(
    Type.Object({
      ipAddress: Type.String(),
      numReports: Type.Integer(),
      mostRecentReport: Time,
      abuseConfidenceScore: Type.Integer(),
      countryCode: Unknown,
    }),
  ),
})

const Blacklist = Type.Object({
  meta: Type.Object({ generatedAt: Type.String() }),
  data: Type.Array(
    Type.Object({
      ipAddress: Type.String(),
      countryCode: Unknown,
      abuseConfidenceScore: Type.Integer(),
      lastReportedAt: Time,
    }),
  ),
})

export const blacklistResponses = {
  200: {
    content: {
      'application/json': { schema: Blacklist },
      'text/plain': { schema: Type.String() },
    },
  },
  ...failures,
}

export const ReportResult = Type.Object({
  ipAddress: Type.String(),
  abuseConfidenceScore: Type.Integer(),
})

export const BulkResult = Type.Object({
  savedReports: Type.Integer(),
  invalidReports: Type.Array(
    Type.Object({ error: Type.String(), input: Type.String(), rowNumber: Type.Integer() }),
  ),
})

export const ClearResult = Type.Object({ numReportsDeleted: Type.Integer() })

nameComponents({
  AbuseIpdbFailures: Failures,
  AbuseIpdbReport: Report,
  AbuseIpdbCheck: CheckResult,
  AbuseIpdbBlacklist: Blacklist,
})

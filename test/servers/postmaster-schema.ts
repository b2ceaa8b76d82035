import { Type } from 'typebox'

/**
 * The messages of the Gmail Postmaster Tools API v2 that this service sends and reads, by the fields,
 * types and values of Google’s discovery document (revision 20260623).
 */
const closed = { additionalProperties: false }

const DateOf = Type.Object(
  { year: Type.Integer(), month: Type.Integer(), day: Type.Integer() },
  closed,
)

const STANDARD_METRICS = [
  'FEEDBACK_LOOP_ID',
  'FEEDBACK_LOOP_SPAM_RATE',
  'SPAM_RATE',
  'AUTH_SUCCESS_RATE',
  'TLS_ENCRYPTION_MESSAGE_COUNT',
  'TLS_ENCRYPTION_RATE',
  'DELIVERY_ERROR_COUNT',
  'DELIVERY_ERROR_RATE',
] as const

export const QueryDomainStatsRequest = Type.Object(
  {
    metricDefinitions: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          baseMetric: Type.Object({ standardMetric: Type.Enum([...STANDARD_METRICS]) }, closed),
          filter: Type.Optional(Type.String()),
        },
        closed,
      ),
      { minItems: 1 },
    ),
    timeQuery: Type.Object(
      {
        dateRanges: Type.Object(
          { dateRanges: Type.Array(Type.Object({ start: DateOf, end: DateOf }, closed)) },
          closed,
        ),
      },
      closed,
    ),
    aggregationGranularity: Type.Enum(['DAILY', 'OVERALL']),
    pageSize: Type.Integer({ minimum: 1, maximum: 200 }),
    pageToken: Type.Optional(Type.String()),
  },
  closed,
)

/** `oneof`: one of them is set. `int64` is a text in JSON. */
const StatisticValue = Type.Object(
  {
    doubleValue: Type.Optional(Type.Number()),
    floatValue: Type.Optional(Type.Number()),
    intValue: Type.Optional(Type.String({ pattern: '^-?\\d+$' })),
    stringValue: Type.Optional(Type.String()),
    stringList: Type.Optional(
      Type.Object({ values: Type.Optional(Type.Array(Type.String())) }, closed),
    ),
  },
  { ...closed, maxProperties: 1 },
)

export const QueryDomainStatsResponse = Type.Object(
  {
    domainStats: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.Optional(Type.String()),
            metric: Type.Optional(Type.String()),
            date: Type.Optional(DateOf),
            value: Type.Optional(StatisticValue),
          },
          closed,
        ),
      ),
    ),
    nextPageToken: Type.Optional(Type.String()),
  },
  closed,
)

const ComplianceStatus = Type.Object(
  { status: Type.Optional(Type.Enum(['STATE_UNSPECIFIED', 'COMPLIANT', 'NEEDS_WORK'])) },
  closed,
)

const COMPLIANCE_REQUIREMENTS = [
  'COMPLIANCE_REQUIREMENT_UNSPECIFIED',
  'SPF',
  'DKIM',
  'SPF_AND_DKIM',
  'DMARC_POLICY',
  'DMARC_ALIGNMENT',
  'MESSAGE_FORMATTING',
  'DNS_RECORDS',
  'ENCRYPTION',
  'USER_REPORTED_SPAM_RATE',
  'ONE_CLICK_UNSUBSCRIBE',
  'HONOR_UNSUBSCRIBE',
] as const

const verdictOf = (reasons: string[]) =>
  Type.Object(
    {
      status: Type.Optional(ComplianceStatus),
      reason: Type.Optional(Type.Enum(['REASON_UNSPECIFIED', ...reasons])),
    },
    closed,
  )

const DomainComplianceData = Type.Object(
  {
    domainId: Type.Optional(Type.String()),
    rowData: Type.Optional(
      Type.Array(
        Type.Object(
          {
            requirement: Type.Optional(Type.Enum([...COMPLIANCE_REQUIREMENTS])),
            status: Type.Optional(ComplianceStatus),
          },
          closed,
        ),
      ),
    ),
    oneClickUnsubscribeVerdict: Type.Optional(
      verdictOf(['NO_UNSUB_GENERAL', 'NO_UNSUB_SPAM_REPORTS', 'NO_UNSUB_PROMO_SPAM_REPORTS']),
    ),
    honorUnsubscribeVerdict: Type.Optional(
      verdictOf([
        'NOT_HONORING',
        'NOT_HONORING_TOO_FEW_CAMPAIGNS',
        'NOT_HONORING_TOO_MANY_CAMPAIGNS',
      ]),
    ),
  },
  closed,
)

export const DomainComplianceStatus = Type.Object(
  {
    name: Type.Optional(Type.String()),
    complianceData: Type.Optional(DomainComplianceData),
    subdomainComplianceData: Type.Optional(DomainComplianceData),
  },
  closed,
)

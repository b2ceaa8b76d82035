import { Type, type Static } from 'typebox'
import { Receipt } from '../diagnostics/shapes.ts'
import { Labels } from '../http/labels.ts'
import {
  nameComponents,
  Nullable,
  OrderOf,
  PageQuery,
  Pagination,
  SearchText,
  Timestamp,
  Uuid,
} from '../http/http-schema.ts'
import { MAX_IMPORT_ENTRIES } from '../http/shapes.ts'

/**
 * `unknown`: it could not be checked, which is never counted as good. A line about an optional
 * feature that the domain does not use is `good` with `isUsed: false`.
 */
const LINE_STATES = ['good', 'warning', 'bad', 'unknown'] as const
export type LineState = (typeof LINE_STATES)[number]

/** The stages of the mail path, in its order. */
export const STAGE_NAMES = ['sender', 'authentication', 'mx', 'tls', 'reputation'] as const
export type StageName = (typeof STAGE_NAMES)[number]

/** The lines of each stage, in the order in which they are shown. */
export const LINES_BY_STAGE = {
  sender: ['senders', 'reverse-dns'],
  authentication: ['spf', 'dkim', 'dmarc', 'bimi'],
  mx: ['registration', 'dnssec', 'mx'],
  tls: ['smtp-tls', 'submission-tls', 'imap-tls', 'web-tls', 'mta-sts', 'tls-rpt', 'dane', 'caa'],
  reputation: ['blocklists', 'domain-blocklists'],
} as const satisfies Record<StageName, readonly string[]>
export type LineName = (typeof LINES_BY_STAGE)[StageName][number]
export const LINE_NAMES: readonly LineName[] = STAGE_NAMES.flatMap((stage) => LINES_BY_STAGE[stage])

/** Types of records that fixes consist of. */
const FIX_TYPES = ['TXT', 'TLSA', 'PTR'] as const
export const FIX_SEVERITIES = ['bad', 'warning', 'suggestion'] as const

const State = Type.Enum([...LINE_STATES], {
  description:
    '`bad`: mail is lost, rejected or exposed. `warning`: works with limits, or will fail soon. `unknown`: could not be checked, which is never counted as good.',
})

const Evidence = Type.Object({
  label: Type.String({ description: 'What was asked: a name and type, a host and port, a list.' }),
  value: Type.String({ description: 'The answer.' }),
  state: State,
})
export type Evidence = Static<typeof Evidence>

export const DomainLine = Type.Object({
  name: Type.Enum([...LINE_NAMES]),
  title: Type.String(),
  stage: Type.Enum([...STAGE_NAMES]),
  state: State,
  isUsed: Type.Boolean({
    description:
      'False for an optional feature that the domain does not use. The state is then `good`.',
  }),
  summary: Type.String({ description: 'The result, in one sentence.' }),
  details: Type.Array(Type.String(), { description: 'Problems and remarks, as sentences.' }),
  evidence: Type.Array(Evidence),
})
export type DomainLine = Static<typeof DomainLine>

const RecordChange = Type.Object({
  removed: Nullable(Type.String({ description: 'A record, or a part of one, that goes.' })),
  added: Nullable(Type.String({ description: 'What takes its place, or is new.' })),
  reason: Type.String(),
})

export const DomainFix = Type.Object({
  name: Type.String({ description: 'The name of the record, absolute, without the final dot.' }),
  type: Type.Enum([...FIX_TYPES]),
  line: Type.Enum([...LINE_NAMES], { description: 'The line that the fix is for.' }),
  severity: Type.Enum([...FIX_SEVERITIES]),
  published: Type.Array(Type.String(), {
    description: 'The records that `value` replaces. Other records of the name stay.',
  }),
  value: Type.String({ description: 'The one record to publish.' }),
  changes: Type.Array(RecordChange, { description: 'Each difference, with its reason.' }),
  caution: Nullable(Type.String({ description: 'What to know before publishing the record.' })),
})
export type DomainFix = Static<typeof DomainFix>

export const DomainVerdict = Type.Object({
  state: State,
  sentence: Type.String(),
  exitCode: Type.Integer({
    minimum: 0,
    maximum: 2,
    description:
      'The exit code of `portreeve check`: 0 nothing wrong, 1 problems found, 2 could not be checked.',
  }),
})
export type DomainVerdict = Static<typeof DomainVerdict>

export const DomainStage = Type.Object({
  name: Type.Enum([...STAGE_NAMES]),
  title: Type.String(),
  state: State,
  lines: Type.Array(Type.Enum([...LINE_NAMES])),
})
export type DomainStage = Static<typeof DomainStage>

/** A stage without its lines. */
const StageState = Type.Object({ name: Type.Enum([...STAGE_NAMES]), state: State })
export type StageState = Static<typeof StageState>

export const DomainReport = Type.Object({
  domain: Type.String({ description: 'The checked name, in A-labels.' }),
  unicodeDomain: Type.String({ description: 'The same name in Unicode.' }),
  registeredDomain: Type.String({ description: 'The domain below a public suffix.' }),
  verdict: DomainVerdict,
  stages: Type.Array(DomainStage, { description: 'The mail path, in its order.' }),
  lines: Type.Array(DomainLine),
  fixes: Type.Array(DomainFix, {
    description: 'Records to publish, most urgent first; never two for one name and type.',
  }),
  checkedAt: Timestamp,
  durationMs: Type.Integer(),
})
export type DomainReport = Static<typeof DomainReport>

export const DomainParams = Type.Object({
  domain: Type.String({
    maxLength: 300,
    description: 'A domain name, as U-labels or A-labels, with or without the final dot.',
    examples: ['example.com'],
  }),
})

/** The data of the events of a check. */
export const DomainEventData = Type.Union([
  DomainLine,
  Type.Object({ fixes: Type.Array(DomainFix) }),
  Type.Object({ data: DomainReport, receipt: Receipt }),
])

// --- one record ---

/** Types of records that can be watched for. */
export const WATCHED_TYPES = ['TXT', 'TLSA', 'PTR', 'CAA', 'MX', 'CNAME', 'A', 'AAAA'] as const

export const RecordQuery = Type.Object({
  name: Type.String({
    maxLength: 300,
    description: 'The name of the record: the domain, a name below it, or the name of a fix.',
    examples: ['_dmarc.example.com'],
  }),
  type: Type.Enum([...WATCHED_TYPES]),
  value: Type.Optional(
    Type.String({ maxLength: 4_096, description: 'The record that should be there.' }),
  ),
})

export const RecordState = Type.Object({
  name: Type.String(),
  type: Type.Enum([...WATCHED_TYPES]),
  zone: Nullable(Type.String({ description: 'The zone that contains the record.' })),
  servers: Type.Array(
    Type.Object({
      server: Type.String({ description: 'Host name of a name server of the zone.' }),
      values: Type.Array(Type.String()),
      matches: Nullable(Type.Boolean({ description: 'Null without an answer or a `value`.' })),
      problem: Nullable(Type.String()),
    }),
  ),
  values: Type.Array(Type.String(), { description: 'All records that the name servers publish.' }),
  matches: Nullable(
    Type.Boolean({
      description:
        'Whether every name server that answered publishes `value`, and no other record of its kind. Null when none answered, or without `value`.',
    }),
  ),
  cached: Type.Object({
    values: Type.Array(Type.String(), { description: 'The copy in the cache of the resolver.' }),
    matches: Nullable(Type.Boolean()),
    ttl: Nullable(
      Type.Integer({ description: 'Seconds until the copy expires. Null without an answer.' }),
    ),
  }),
  visibleToEverybodyAt: Nullable(
    Type.String({
      format: 'date-time',
      description:
        'When the old copy in the resolver’s cache has expired. Null until the name servers publish the record.',
    }),
  ),
})
export type RecordState = Static<typeof RecordState>

// --- domains of a workspace ---

export const DOMAIN_ORDERS = ['domain', 'state', 'watched', 'hosts', 'checkedAt'] as const

export const DomainQuery = Type.Object({
  ...PageQuery.properties,
  q: SearchText,
  watched: Type.Optional(
    Type.Boolean({ description: 'Only watched domains, or only those that are not.' }),
  ),
  sort: OrderOf(DOMAIN_ORDERS),
})

export const DomainSummary = Type.Object({
  domain: Type.String({
    description: 'A registered domain, or a watched or reported one below it.',
  }),
  isWatched: Type.Boolean(),
  labels: { ...Labels, description: 'Labels of a watched domain; empty for others.' },
  state: Type.Enum([...LINE_STATES], {
    description:
      'Of the last whole check if the domain is watched, and `bad` while a monitored host of it is listed. Otherwise `unknown`.',
  }),
  sentence: Nullable(Type.String({ description: 'The verdict of the last whole check.' })),
  stages: Nullable(
    Type.Array(StageState, {
      description: 'The mail path of the last whole check of a watched domain, in its order.',
    }),
  ),
  checkedAt: Nullable(Timestamp),
  dmarcDomainId: Nullable(Uuid),
  hosts: Type.Array(
    Type.Object({
      id: Uuid,
      host: Type.String(),
      status: Type.Enum(['pending', 'clean', 'listed', 'unknown']),
    }),
    { description: 'Up to 20 monitored hosts of the domain.' },
  ),
  hostCount: Type.Integer({ description: 'All its monitored hosts.' }),
})
export type DomainSummary = Static<typeof DomainSummary>

export const DomainPage = Type.Object({
  domains: Type.Array(DomainSummary, {
    description: 'Problems first, then by name, unless ordered otherwise.',
  }),
  pagination: Pagination,
})

export const WatchState = Type.Object({
  domain: Type.String(),
  isWatched: Type.Boolean(),
  labels: { ...Labels, description: 'Empty for a domain that is not watched.' },
  dmarcDomainId: Nullable(Uuid),
})

export const WatchedDomain = Type.Object({
  domain: Type.String(),
  hosts: Type.Array(Type.String(), { description: 'Hosts that are monitored for it.' }),
  createdAt: Timestamp,
  problems: Type.Array(Type.String(), {
    description: 'Parts that could not be switched on. Repeat the request when they are mended.',
  }),
})

/** Domains to watch at once. An entry that is no domain has a result of its own. */
export const DomainImport = Type.Object(
  {
    entries: Type.Array(Type.Object({ domain: Type.String({ maxLength: 300 }) }), {
      minItems: 1,
      maxItems: MAX_IMPORT_ENTRIES,
    }),
  },
  { examples: [{ entries: [{ domain: 'example.com' }, { domain: 'example.net' }] }] },
)

const HISTORY_KINDS = ['record', 'listing', 'certificate', 'verdict', 'line'] as const

export const DomainHistory = Type.Object({
  from: Type.String({ description: 'The first day, `YYYY-MM-DD`.' }),
  to: Type.String(),
  passRate: Type.Array(
    Type.Object({
      day: Type.String(),
      messages: Type.Integer(),
      pass: Type.Integer({ description: 'Messages that passed DMARC.' }),
    }),
    { description: 'One entry a day, from the DMARC reports. Empty if the domain gets none.' },
  ),
  events: Type.Array(
    Type.Object({
      at: Timestamp,
      kind: Type.Enum([...HISTORY_KINDS]),
      name: Type.String({ description: 'The record, host, blocklist, or part of the check.' }),
      before: Type.String(),
      after: Type.String(),
      detail: Nullable(Type.String()),
    }),
    { description: 'Up to 500 changes, newest first.' },
  ),
})
export type DomainHistory = Static<typeof DomainHistory>

nameComponents({
  DomainImport,
  DomainSummary,
  WatchedDomain,
  DomainWatchState: WatchState,
  DomainHistory,
  DomainLine,
  DomainFix,
  DomainVerdict,
  DomainStage,
  DomainReport,
  DomainRecordState: RecordState,
})

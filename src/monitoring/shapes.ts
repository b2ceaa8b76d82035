import { Type, type Static } from 'typebox'
import {
  DayOrMoment,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Timestamp,
  Uuid,
} from '../http/http-schema.ts'
import { SHOWN_NAME } from '../http/shown-name.ts'
import { MAX_IMPORT_ENTRIES } from '../http/shapes.ts'
import { Labels } from '../http/labels.ts'
import { LIST_CATEGORIES } from '../protocols/dnsbl/blocklist-catalogue.ts'
import { MONITORED_KINDS } from './facts/host-facts.sql.ts'
import { LIST_MODES } from './blocklists/modes.ts'

const Label = Type.String({ pattern: SHOWN_NAME, maxLength: 100 })
const ListModeShape = Type.Enum([...LIST_MODES], {
  description:
    '`alert`: count the listing and raise an alert. `watch`: count it without an alert. `mute`: do not query the list.',
})

const Settings = {
  label: Type.Optional(Label),
  labels: Type.Optional(Labels),
  lists: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), ListModeShape, {
      maxProperties: 200,
      propertyNames: { maxLength: 200 },
      description: 'Modes by blocklist hostname. Other blocklists follow the workspace’s settings.',
    }),
  ),
  tlsPorts: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
      maxItems: 8,
      uniqueItems: true,
      description:
        'Ports whose certificates are monitored, with STARTTLS on 25, 587, 143, 110, 389 and 5432. Default for a name: 443.',
    }),
  ),
  dnsRecords: Type.Optional(
    Type.Boolean({
      description:
        'Whether changes of A, AAAA, CNAME, MX, NS, TXT and DMARC records are monitored.',
    }),
  ),
}

export const NewHost = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 260,
      description: 'A host name or a public IP address.',
    }),
    ...Settings,
  },
  { examples: [{ host: 'mail.example.com', label: 'outgoing mail' }] },
)

/** Hosts to add at once. An entry that is no host has a result of its own. */
export const NewHosts = Type.Object(
  {
    entries: Type.Array(
      Type.Object({
        host: Type.String({ maxLength: 300, description: 'A host name or a public IP address.' }),
        label: Type.Optional(Label),
      }),
      { minItems: 1, maxItems: MAX_IMPORT_ENTRIES },
    ),
  },
  { examples: [{ entries: [{ host: 'mail.example.com', label: 'outgoing mail' }] }] },
)

export const HostChanges = Type.Object(Settings)

const AvailabilityShape = Type.Object(
  {
    days: Type.Integer(),
    percent: Nullable(Type.Number()),
    cleanSeconds: Type.Integer(),
    listedSeconds: Type.Integer(),
    unknownSeconds: Type.Integer(),
  },
  {
    description:
      'Share of the known time without a listing on a critical or major blocklist; null while nothing is known.',
  },
)

const CertificateState = Type.String({
  description:
    '`valid`, `expiring`, `expiring-soon`, `expired`, `not-yet-valid`, `wrong-host`, `untrusted`.',
})

export const HOST_STATUSES = ['pending', 'clean', 'listed', 'unknown'] as const

export const MonitoredHost = Type.Object({
  id: Uuid,
  host: Type.String(),
  label: Type.String(),
  labels: Labels,
  status: Type.Enum([...HOST_STATUSES], {
    description:
      '`clean`: no critical or major blocklist that answers this service has a listing. `unknown`: no listing is known, but some of them gave no usable answer. Lists that refuse the resolver of this service count in `unknownCount` only.',
  }),
  listedCount: Type.Integer({ description: 'Confirmed listings of all its addresses.' }),
  listedIps: Type.Array(Type.String(), { description: 'Up to 8 of its addresses with a listing.' }),
  totalChecked: Type.Integer({ description: 'Blocklists times addresses.' }),
  unknownCount: Type.Integer({
    description: 'How many of these gave no usable answer in the last check.',
  }),
  detail: Nullable(
    Type.String({ description: 'Why results are unknown, and what to do about it.' }),
  ),
  lastCheckAt: Nullable(Timestamp),
  nextCheckAt: Timestamp,
  createdAt: Timestamp,
  lists: Type.Record(Type.String(), ListModeShape),
  tlsPorts: Type.Array(Type.Integer()),
  dnsRecords: Type.Boolean(),
  availability: AvailabilityShape,
  days: Type.Array(Type.Enum(['clean', 'listed', 'unknown', 'none']), {
    description:
      'State on each UTC day of `availability`, oldest first, today last. `listed`: for a part of the day. `none`: not monitored yet.',
  }),
  certificate: Nullable(
    Type.Object(
      { state: CertificateState, daysRemaining: Type.Integer() },
      {
        description:
          'Of its certificates with a problem, or else of all, the one that expires first.',
      },
    ),
  ),
})

export const HostListing = Type.Object({
  ip: Type.String(),
  name: Type.String(),
  dnsbl: Type.String(),
  category: Type.Enum([...LIST_CATEGORIES]),
  state: Type.Enum(['listed', 'suspected', 'clearing'], {
    description:
      '`suspected` and `clearing` were seen once and are confirmed before an alert is raised.',
  }),
  codes: Type.Array(Type.String()),
  meanings: Type.Array(Type.String()),
  reason: Nullable(Type.String()),
  delistUrl: Nullable(Type.String()),
  since: Timestamp,
})

const CertificateShape = Type.Object({
  port: Type.Integer(),
  state: CertificateState,
  daysRemaining: Type.Integer(),
  validTo: Timestamp,
  issuer: Type.String(),
  names: Type.Array(Type.String()),
  since: Timestamp,
})

const RecordShape = Type.Object({
  name: Type.String(),
  type: Type.String(),
  values: Type.Array(Type.String()),
  since: Timestamp,
})

const PeriodShape = Type.Object({
  state: Type.Enum(['clean', 'listed', 'unknown'], {
    description: '`listed`: on a critical or major blocklist.',
  }),
  from: Timestamp,
  to: Timestamp,
})

/** One host with its listings, certificates and records. */
export const MonitoredHostDetail = Type.Object({
  ...MonitoredHost.properties,
  addresses: Type.Array(
    Type.Object({ ip: Type.String(), unknownLists: Type.Array(Type.String()) }),
  ),
  listings: Type.Array(HostListing),
  certificates: Type.Array(CertificateShape),
  records: Type.Array(RecordShape),
  periods: Type.Array(PeriodShape, {
    description: 'States during the days of `availability`, oldest first.',
  }),
})
export type MonitoredHostDetail = Static<typeof MonitoredHostDetail>

export const HistoryQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(Type.Enum([...MONITORED_KINDS])),
  from: Type.Optional(Type.String({ ...DayOrMoment, description: 'Changes from then on.' })),
  to: Type.Optional(Type.String({ ...DayOrMoment, description: 'Changes up to then.' })),
})

const Change = Type.Object({
  at: Timestamp,
  name: Type.String({
    description: 'The blocklist, `Certificate on port 443`, or `example.com MX`.',
  }),
  dnsbl: Nullable(Type.String()),
  from: Type.String(),
  to: Type.String(),
  codes: Type.Array(Type.String()),
  reason: Nullable(Type.String()),
  kind: Type.Enum([...MONITORED_KINDS]),
  ip: Nullable(Type.String()),
  baseline: Type.Boolean({ description: 'Found by the first check, which raises no alerts.' }),
})

export const History = Type.Object({
  events: Type.Array(Change),
  pagination: Pagination,
})

const SpanShape = Type.Object({
  state: Type.Enum(['clean', 'listed', 'unknown']),
  from: Timestamp,
  to: Timestamp,
})
const HostSpans = Type.Array(SpanShape, {
  description:
    'States on critical and major blocklists, in order. Time that no span covers was not monitored.',
})

export const HostTimeline = Type.Object({
  from: Timestamp,
  to: Timestamp,
  periods: HostSpans,
  lists: Type.Array(
    Type.Object({
      name: Type.String(),
      dnsbl: Type.String(),
      spans: Type.Array(SpanShape, { description: 'Listed or unknown, in order.' }),
    }),
    { description: 'Blocklists with a listing in this time, the latest first.' },
  ),
  marks: Type.Array(
    Type.Object({
      at: Timestamp,
      kind: Type.Enum(['certificate', 'dns']),
      name: Type.String(),
      from: Type.String(),
      to: Type.String(),
    }),
    { description: 'Changes of certificates and DNS records, in order.' },
  ),
})

export const WorkspaceTimeline = Type.Object({
  from: Timestamp,
  to: Timestamp,
  hosts: Type.Array(
    Type.Object({ id: Uuid, host: Type.String(), label: Type.String(), periods: HostSpans }),
  ),
  total: Type.Integer({ description: 'Hosts of the workspace.' }),
})

export const WatchedList = Type.Object({
  name: Type.String(),
  dnsbl: Type.String(),
  category: Type.Enum([...LIST_CATEGORIES]),
  mode: ListModeShape,
  isDefault: Type.Boolean(),
})

export const ListChoice = Type.Object({
  mode: Type.Enum([...LIST_MODES, 'default'], { description: '`default` removes the setting.' }),
})

nameComponents({
  NewHost,
  NewHosts,
  HostChanges,
  MonitoredHost,
  MonitoredHostDetail,
  HostListing,
  HostCertificate: CertificateShape,
  HostRecord: RecordShape,
  HostEvent: Change,
  HostTimeline,
  WorkspaceTimeline,
  WatchedList,
  ListChoice,
})

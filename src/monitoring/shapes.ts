import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, PageQuery, Pagination, Timestamp, Uuid } from '../http/schema.ts'
import { CATEGORIES } from '../protocols/dnsbl/catalogue.ts'
import { KINDS } from './facts/store.ts'
import { MODES } from './modes/modes.ts'

const Label = Type.String({ pattern: '^[^\\p{Cc}]*$', maxLength: 100 })
const ModeShape = Type.Enum([...MODES], {
  description: '`alert`: tell me. `watch`: count it and write it down. `mute`: do not ask.',
})

const Settings = {
  label: Type.Optional(Label),
  lists: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), ModeShape, {
      maxProperties: 200,
      propertyNames: { maxLength: 200 },
      description: 'By blacklist hostname; others follow the account’s choice.',
    }),
  ),
  tlsPorts: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
      maxItems: 8,
      uniqueItems: true,
      description:
        'Whose certificate is watched; at 25, 587, 143, 110, 389 and 5432 behind STARTTLS. A name begins with 443.',
    }),
  ),
  dnsRecords: Type.Optional(
    Type.Boolean({ description: 'Whether changes of A, AAAA, CNAME, MX, NS, TXT and DMARC are watched.' }),
  ),
}

export const NewHost = Type.Object(
  { host: Type.String({ minLength: 1, maxLength: 260, description: 'A name or a public address.' }), ...Settings },
  { examples: [{ host: 'mail.example.com', label: 'outgoing mail' }] },
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
  { description: 'Share of the known time without a critical or major listing; null while nothing is known.' },
)

export const MonitoredHost = Type.Object({
  id: Uuid,
  host: Type.String(),
  label: Type.String(),
  status: Type.Enum(['pending', 'clean', 'listed', 'unknown'], {
    description: '`clean`: every critical and major list said so. `unknown`: some of them could not be asked.',
  }),
  listedCount: Type.Integer({ description: 'Confirmed listings, over all its addresses.' }),
  totalChecked: Type.Integer({ description: 'Lists times addresses.' }),
  unknownCount: Type.Integer({ description: 'Of these, how many could not be told last time.' }),
  detail: Nullable(Type.String({ description: 'Why something is unknown.' })),
  lastCheckAt: Nullable(Timestamp),
  nextCheckAt: Timestamp,
  createdAt: Timestamp,
  lists: Type.Record(Type.String(), ModeShape),
  tlsPorts: Type.Array(Type.Integer()),
  dnsRecords: Type.Boolean(),
  availability: AvailabilityShape,
})

const ListingShape = Type.Object({
  ip: Type.String(),
  name: Type.String(),
  dnsbl: Type.String(),
  category: Type.Enum([...CATEGORIES]),
  state: Type.Enum(['listed', 'suspected', 'clearing'], {
    description: '`suspected` and `clearing` were seen once and are asked again before anybody is told.',
  }),
  codes: Type.Array(Type.String()),
  meanings: Type.Array(Type.String()),
  reason: Nullable(Type.String()),
  delistUrl: Nullable(Type.String()),
  since: Timestamp,
})

const CertificateShape = Type.Object({
  port: Type.Integer(),
  state: Type.String({
    description: '`valid`, `expiring`, `expiring-soon`, `expired`, `not-yet-valid`, `wrong-host`, `untrusted`.',
  }),
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
  state: Type.Enum(['clean', 'listed', 'unknown'], { description: '`listed`: on a critical or major list.' }),
  from: Timestamp,
  to: Timestamp,
})

/** One host with all that is known of it. */
export const MonitoredHostDetail = Type.Object({
  ...MonitoredHost.properties,
  addresses: Type.Array(Type.Object({ ip: Type.String(), unknownLists: Type.Array(Type.String()) })),
  listings: Type.Array(ListingShape),
  certificates: Type.Array(CertificateShape),
  records: Type.Array(RecordShape),
  periods: Type.Array(PeriodShape, { description: 'How it was in the days of `availability`, oldest first.' }),
})
export type MonitoredHostDetail = Static<typeof MonitoredHostDetail>

export const HistoryQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(Type.Enum([...KINDS])),
})

const Change = Type.Object({
  at: Timestamp,
  name: Type.String({ description: 'The blacklist, `Certificate on port 443`, or `example.com MX`.' }),
  dnsbl: Nullable(Type.String()),
  from: Type.String(),
  to: Type.String(),
  codes: Type.Array(Type.String()),
  reason: Nullable(Type.String()),
  kind: Type.Enum([...KINDS]),
  ip: Nullable(Type.String()),
  baseline: Type.Boolean({ description: 'It was so at the first look, and nobody was told.' }),
})

export const History = Type.Object({
  events: Type.Array(Change),
  pagination: Pagination,
})

export const WatchedList = Type.Object({
  name: Type.String(),
  dnsbl: Type.String(),
  category: Type.Enum([...CATEGORIES]),
  mode: ModeShape,
  isDefault: Type.Boolean(),
})

export const ListChoice = Type.Object({
  mode: Type.Enum([...MODES, 'default'], { description: '`default` takes the choice back.' }),
})

nameComponents({
  NewHost,
  HostChanges,
  MonitoredHost,
  MonitoredHostDetail,
  HostListing: ListingShape,
  HostCertificate: CertificateShape,
  HostRecord: RecordShape,
  HostEvent: Change,
  WatchedList,
  ListChoice,
})

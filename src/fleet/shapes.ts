import { Type } from 'typebox'
import {
  MAX_BIGINT,
  MAX_LENGTH,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Success,
  Timestamp,
  Uuid,
} from '../http/http-schema.ts'
import { SHOWN_NAME } from '../http/shown-name.ts'
import { FORMAT_NAMES } from '../abuse/export/export-formats.ts'
import { FEED_IDS } from '../public-feeds/feed-catalogue.ts'
import { MAX_BAN_SECONDS, MAX_FEED_NETWORKS, MAX_RULES } from './limits.ts'

const IP = '8.8.4.4'
const MOMENT = '2026-11-21T12:00:00.000Z'

const Seconds = Type.Integer({ minimum: 60, maximum: MAX_BAN_SECONDS })

const Rule = Type.Object(
  {
    services: Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 100,
      description: 'Ids or aliases of services; empty for all.',
    }),
    minCount: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description:
        'Events within the window that ban an address: the sum of `count` of its reports.',
    }),
    windowSeconds: Type.Integer({ minimum: 60, maximum: 86_400 }),
    banSeconds: { ...Seconds, description: 'The first ban.' },
    growth: Type.Number({
      minimum: 1,
      maximum: 100,
      description: 'Each further ban is longer by this factor.',
    }),
    maxBanSeconds: { ...Seconds, description: 'The longest ban.' },
  },
  {
    examples: [
      {
        services: ['ssh'],
        minCount: 5,
        windowSeconds: 600,
        banSeconds: 14_400,
        growth: 4,
        maxBanSeconds: 604_800,
      },
    ],
  },
)

export const Settings = Type.Object({
  rules: Type.Array(Rule, { description: 'The first rule that names a service applies to it.' }),
  hasOwnRules: Type.Boolean({ description: '`false` for the default rules.' }),
  servesShared: Type.Boolean({
    description: 'Whether CrowdSec bouncers and exports also get the shared list.',
  }),
  feeds: Type.Array(Type.String(), {
    description: 'Ids of the public feeds that servers, bouncers and exports also get.',
  }),
  feedNetworks: Type.Integer({ description: 'Addresses and networks of these feeds.' }),
  feedsLeftOut: Type.Array(Type.String(), {
    description: `Ids of chosen feeds beyond the limit of ${MAX_FEED_NETWORKS.toLocaleString('en')} networks.`,
  }),
  badgeId: Nullable(
    Type.String({ description: 'Part of the public URL of the badge; null without one.' }),
  ),
  bans: Type.Integer(),
  maxBans: Type.Integer(),
})

export const SettingsChange = Type.Object(
  {
    rules: Type.Optional(Nullable(Type.Array(Rule, { maxItems: MAX_RULES }))),
    servesShared: Type.Optional(Type.Boolean()),
    feeds: Type.Optional(
      Type.Array(Type.Enum(FEED_IDS), {
        maxItems: FEED_IDS.length,
        description: 'Ids of public feeds that an administrator has enabled.',
      }),
    ),
    badge: Type.Optional(
      Type.Boolean({
        description:
          'Whether there is a badge that everyone with its URL can read. A new one has a new URL.',
      }),
    ),
  },
  { description: 'Without rules, no report bans an address; null restores the default rules.' },
)

const Ban = Type.Object({
  id: Uuid,
  address: Type.String({ description: 'An IPv4 address or an IPv6 /64.' }),
  bannedAt: Timestamp,
  expiresAt: Timestamp,
  bans: Type.Integer({ description: 'How often it was banned in the last 30 days.' }),
  reason: Type.String({ description: 'Written by the member who banned it.' }),
  services: Type.Array(Type.String()),
  servers: Type.Array(Type.String(), { description: 'Labels of the tokens that reported it.' }),
})

export const BanQuery = Type.Object({
  ...PageQuery.properties,
  q: Type.String({ maxLength: 100, default: '', description: 'A part of the address.' }),
})

export const BanPage = Success(Type.Object({ bans: Type.Array(Ban), pagination: Pagination }))

export const NewBan = Type.Object(
  {
    ip: Type.String({ maxLength: MAX_LENGTH.address, description: 'A public address.' }),
    seconds: { ...Seconds, default: 86_400 },
    reason: Type.String({ maxLength: 200, pattern: SHOWN_NAME, default: '' }),
  },
  { examples: [{ ip: IP, seconds: 86_400, reason: 'Scraper' }] },
)

export const NewBanResult = Success(Type.Object({ address: Type.String(), expiresAt: Timestamp }))

export const Unbanned = Success(Type.Object({ unbanned: Type.Integer() }))

export const HistoryQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  before: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_BIGINT,
      description: 'Only changes before this number.',
    }),
  ),
  ip: Type.Optional(Type.String({ maxLength: MAX_LENGTH.address })),
})

export const HistoryPage = Success(
  Type.Object({
    changes: Type.Array(
      Type.Object({
        number: Type.Integer(),
        address: Type.String(),
        kind: Type.Enum(['banned', 'extended', 'unbanned', 'expired']),
        expiresAt: Nullable(Timestamp),
        at: Timestamp,
        cause: Type.Object({
          by: Type.Enum(['report', 'withdrawal', 'member', 'allowlist', 'protection', 'time']),
          token: Type.Optional(Type.String({ description: 'The label of the report token.' })),
          service: Type.Optional(Type.String()),
          count: Type.Optional(Type.Integer()),
          member: Type.Optional(Type.String()),
          reason: Type.Optional(Type.String()),
          network: Type.Optional(Type.String()),
        }),
      }),
    ),
  }),
)

export const AllowedNetwork = Type.Object({
  id: Uuid,
  network: Type.String(),
  label: Type.String(),
  createdAt: Timestamp,
})

export const NewAllowedNetwork = Type.Object(
  {
    cidr: Type.String({ maxLength: MAX_LENGTH.address }),
    label: Type.String({ maxLength: 200, pattern: SHOWN_NAME, default: '' }),
  },
  { examples: [{ cidr: '192.0.2.0/24', label: 'The office' }] },
)

export const Allowlist = Success(
  Type.Object({
    networks: Type.Array(AllowedNetwork),
    automatic: Type.Object(
      {
        members: Type.Array(Type.String(), {
          description: 'Addresses from which members are signed in.',
        }),
        servers: Type.Array(Type.String(), {
          description: 'Addresses of servers that report or follow.',
        }),
        service: Type.Array(Type.String(), { description: 'Addresses of this service.' }),
      },
      { description: 'Never banned, without being on the allowlist.' },
    ),
  }),
)

export const ServerList = Success(
  Type.Array(
    Type.Object({
      address: Type.String(),
      label: Nullable(Type.String({ description: 'The label of its token.' })),
      reportedAt: Nullable(Timestamp),
      followedAt: Nullable(Timestamp),
      client: Type.String({ description: 'The program that follows, as it names itself.' }),
    }),
  ),
)

export const BouncerList = Success(
  Type.Array(
    Type.Object({
      address: Type.String(),
      name: Type.String({ description: 'As it names itself (User-Agent).' }),
      label: Type.String({ description: 'The label of its token.' }),
      pulledAt: Timestamp,
      metricsAt: Nullable(Timestamp),
      metrics: Nullable(
        Type.Object({
          type: Type.String(),
          version: Type.String(),
          values: Type.Record(Type.String(), Type.Number()),
        }),
      ),
    }),
  ),
)

// --- bouncer keys ---

const keyFields = {
  id: Uuid,
  label: Type.String(),
  lastFour: Type.String(),
  createdAt: Timestamp,
}

export const IssuedKey = Type.Object(
  { ...keyFields, key: Type.String({ description: 'Shown only once; only its hash is stored.' }) },
  {
    examples: [
      {
        id: '0190b6b2-7c3e-7d0a-9c1f-2b6f0a4c8e51',
        label: 'web-1',
        lastFour: 'x9Qz',
        createdAt: MOMENT,
        key: `bk_${'A1b2'.repeat(8)}`,
      },
    ],
  },
)

export const KeyList = Success(
  Type.Array(
    Type.Object({
      ...keyFields,
      usedAt: Nullable(Timestamp),
    }),
  ),
)

// --- for servers ---

export const FollowerHeaders = Type.Object({
  'x-api-key': Type.Optional(
    Type.String({ maxLength: MAX_LENGTH.header, description: 'A bouncer key of the workspace.' }),
  ),
  'x-report-token': Type.Optional(
    Type.String({
      maxLength: MAX_LENGTH.header,
      description: 'A report token that followed the list before bouncer keys existed.',
    }),
  ),
  'last-event-id': Type.Optional(Type.String({ maxLength: 100 })),
})

export const FollowerQuery = Type.Object({
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_BIGINT,
      description: 'A cursor: returns only the changes since then.',
    }),
  ),
})

export const FleetExportQuery = Type.Object({
  format: Type.Optional(Type.Enum(FORMAT_NAMES, { default: 'plain' })),
  feeds: Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: '^[a-z0-9,-]*$',
      description:
        'Ids of public feeds, separated by commas, instead of those in the settings; empty for none.',
    }),
  ),
  shared: Type.Optional(
    Type.Boolean({ description: 'Whether it contains the shared list, instead of the settings.' }),
  ),
  bans: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether it contains the fleet list itself.' }),
  ),
})

export const FleetExport = Success(
  Type.Object({
    count: Type.Integer(),
    networks: Type.Array(
      Type.Object({
        network: Type.String({ description: 'An address or a network.' }),
        sources: Type.Array(Type.String(), {
          description: '`fleet`, `shared`, or the id of a public feed.',
        }),
      }),
    ),
  }),
)

export const Delta = Type.Object(
  {
    cursor: Type.Integer({ description: 'Send it as `since` in the next request.' }),
    complete: Type.Boolean({
      description: '`added` is the whole list: remove everything else.',
    }),
    added: Type.Array(
      Type.Object({
        ip: Type.String({ description: 'An IPv4 address or an IPv6 /64.' }),
        expiresAt: Timestamp,
        seconds: Type.Integer({ description: 'Remaining seconds of the ban.' }),
      }),
    ),
    removed: Type.Array(Type.String()),
  },
  {
    examples: [
      {
        cursor: 42,
        complete: false,
        added: [{ ip: IP, expiresAt: MOMENT, seconds: 14_400 }],
        removed: [],
      },
    ],
  },
)

export const FollowedList = Success(Delta)

nameComponents({
  FleetRule: Rule,
  NewBouncerKey: IssuedKey,
  FleetSettings: Settings,
  FleetSettingsChange: SettingsChange,
  FleetBan: Ban,
  NewFleetBan: NewBan,
  FleetAllowedNetwork: AllowedNetwork,
  NewFleetAllowedNetwork: NewAllowedNetwork,
  FleetDelta: Delta,
})

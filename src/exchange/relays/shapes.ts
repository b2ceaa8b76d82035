import { Type } from 'typebox'
import {
  MAX_LENGTH,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Success,
  Timestamp,
  Uuid,
} from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import { RELAY_SERVICES } from './services/relay-service.ts'

const ServiceId = Type.Enum([...RELAY_SERVICES])

export const Relay = Type.Object(
  {
    service: ServiceId,
    name: Type.String(),
    homepage: Type.String({ description: 'Where its key is created.' }),
    accountLabel: Nullable(Type.String(), {
      description: 'What `account` is; null where the key is enough.',
    }),
    keyLabel: Type.String(),
    perDay: Type.Integer({ description: 'Reports per day (UTC).' }),
    addressSeconds: Type.Integer({ description: 'Seconds between two reports of an address.' }),
    settings: Nullable(
      Type.Object({ enabled: Type.Boolean(), account: Type.String(), lastFour: Type.String() }),
      { description: 'Null while the workspace does not use it.' },
    ),
    problem: Nullable(Type.String(), {
      description: 'Why nothing is sent until the settings change.',
    }),
    pausedUntil: Nullable(Timestamp),
    waiting: Type.Integer(),
    sent24h: Type.Integer(),
    rejected24h: Type.Integer(),
    dropped: Type.Integer({ description: 'Reports that did not fit into the queue.' }),
    lastSentAt: Nullable(Timestamp),
  },
  {
    examples: [
      {
        service: 'abuseipdb',
        name: 'AbuseIPDB',
        homepage: 'https://www.abuseipdb.com/account/api',
        accountLabel: null,
        keyLabel: 'API key (v2)',
        perDay: 1_000,
        addressSeconds: 900,
        settings: { enabled: true, account: '', lastFour: '9f3c' },
        problem: null,
        pausedUntil: null,
        waiting: 2,
        sent24h: 131,
        rejected24h: 0,
        dropped: 0,
        lastSentAt: '2026-11-21T12:00:00.000Z',
      },
    ],
  },
)

export const RelayList = Success(Type.Array(Relay))

export const RelayParam = Type.Object({ service: ServiceId })

export const RelaySettings = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    account: Type.Optional(Type.String({ maxLength: MAX_LENGTH.email, pattern: SHOWN_NAME })),
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The key of the service; stored encrypted. Omit it to keep the known one.',
      }),
    ),
  },
  { examples: [{ key: 'a1b2c3d4e5f6a7b8' }] },
)

export const RelayTest = Success(
  Type.Object(
    { message: Type.String() },
    { examples: [{ message: 'AbuseIPDB accepts the key.' }] },
  ),
)

export const RelayReportQuery = Type.Object({
  ...PageQuery.properties,
  service: Type.Optional(ServiceId),
})

export const RelayReportPage = Success(
  Type.Object({
    reports: Type.Array(
      Type.Object({
        id: Uuid,
        service: ServiceId,
        address: Type.String(),
        services: Type.Array(Type.String(), { description: 'The attacked services.' }),
        port: Nullable(Type.Integer()),
        count: Type.Integer(),
        reportedAt: Timestamp,
        state: Type.Enum(['waiting', 'sending', 'sent', 'rejected', 'uncertain'], {
          description: '`uncertain`: the service may have it, and it is not sent again.',
        }),
        reason: Type.String({ description: 'Why it was rejected, or why it waits.' }),
        dueAt: Timestamp,
        endedAt: Nullable(Timestamp),
      }),
    ),
    pagination: Pagination,
  }),
)

nameComponents({ Relay, RelaySettings })

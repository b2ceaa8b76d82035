import { Type } from 'typebox'
import { MAX_BIGINT, MAX_LENGTH, nameComponents, Nullable } from '../../http/schema.ts'

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
const maybe = Type.Optional(Type.Boolean())

/** The fields of an alert that count; others are dropped. */
export const Alert = Type.Object(
  {
    scenario: text(1_000),
    events_count: Type.Optional(Type.Integer({ maximum: MAX_BIGINT })),
    start_at: text(100),
    stop_at: text(100),
    simulated: maybe,
    remediation: maybe,
    source: Type.Optional(
      Nullable(Type.Object({ scope: text(100), value: text(1_000), ip: text(100) })),
    ),
    decisions: Type.Optional(
      Nullable(Type.Array(Type.Object({ origin: text(200), simulated: maybe }), { maxItems: 100 })),
    ),
  },
  {
    examples: [
      {
        scenario: 'crowdsecurity/ssh-bf',
        events_count: 6,
        stop_at: '2026-11-21T12:00:00Z',
        source: { scope: 'Ip', value: '8.8.4.4' },
      },
    ],
  },
)

export const MAX_ALERTS = 1_000
export const Alerts = Type.Array(Alert, { maxItems: MAX_ALERTS })

export const Credentials = Type.Object({
  machine_id: Type.String({ maxLength: 256 }),
  password: Type.String({ maxLength: 256, description: 'A report token.' }),
})

export const Session = Type.Object(
  {
    code: Type.Integer(),
    expire: Type.String({ format: 'date-time' }),
    token: Type.String({ description: 'Sent as `Authorization: Bearer`.' }),
  },
  { examples: [{ code: 200, expire: '2026-11-21T13:00:00Z', token: `ar_${'A1b2'.repeat(8)}` }] },
)

/** CrowdSec’s answer: an id of each stored alert. */
export const AlertIds = Type.Array(Type.String())

export const NotificationResult = Type.Object({
  accepted: Type.Integer(),
  skipped: Type.Array(Type.Object({ scenario: Type.String(), reason: Type.String() })),
  warning: Type.Optional(Type.String()),
})

export const AgentHeaders = Type.Object({
  authorization: Type.Optional(Type.String({ maxLength: MAX_LENGTH.header })),
})

nameComponents({ CrowdSecAlert: Alert, CrowdSecSession: Session })

import { Type } from 'typebox'
import { MAX_BIGINT, MAX_LENGTH, nameComponents, Nullable } from '../../http/http-schema.ts'

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
const maybe = Type.Optional(Type.Boolean())

/** The fields of an alert that count; others are dropped. */
const Alert = Type.Object(
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
  server: Type.Optional(Type.String()),
  warning: Type.Optional(Type.String()),
})

export const AgentHeaders = Type.Object({
  authorization: Type.Optional(Type.String({ maxLength: MAX_LENGTH.header })),
})

export const AllowlistQuery = Type.Object({
  with_content: Type.Optional(
    Type.Union(
      [
        Type.String({ maxLength: 100 }),
        Type.Array(Type.String({ maxLength: 100 }), { maxItems: 10 }),
      ],
      { description: '`true`: with the networks.' },
    ),
  ),
})

export const AllowlistName = Type.Object({ name: Type.String({ maxLength: 256 }) })

const target = Type.String({ maxLength: MAX_LENGTH.address })
export const AllowlistTarget = Type.Object({ target })

/** The client of CrowdSec does not encode the slash of a network. */
export const AllowlistNetwork = Type.Object({ target, bits: Type.String({ maxLength: 3 }) })

const time = Type.String({ format: 'date-time' })

export const Allowlist = Type.Object(
  {
    allowlist_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    console_managed: Type.Boolean(),
    created_at: time,
    updated_at: time,
    items: Type.Array(
      Type.Object({ value: Type.String(), description: Type.String(), created_at: time }),
    ),
  },
  {
    examples: [
      {
        allowlist_id: '01a2208d-8109-7c3e-9a51-3f2b6c1d4e5f',
        name: 'portreeve',
        description: 'Networks that the fleet never bans.',
        console_managed: false,
        created_at: '2026-11-21T12:00:00Z',
        updated_at: '2026-11-21T12:00:00Z',
        items: [
          { value: '192.0.2.0/24', description: 'office', created_at: '2026-11-21T12:00:00Z' },
        ],
      },
    ],
  },
)

export const Allowlists = Type.Array(Allowlist)

export const AllowlistTargets = Type.Object({
  targets: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 1_000 }),
})

export const CheckedTarget = Type.Object({
  allowlisted: Type.Boolean(),
  reason: Type.Optional(Type.String()),
})

/** Only the targets that an allowlist has. */
export const CheckedTargets = Type.Object({
  results: Type.Array(
    Type.Object({ target: Type.String(), allowlists: Type.Array(Type.String()) }),
  ),
})

nameComponents({
  CrowdSecAlert: Alert,
  CrowdSecSession: Session,
  CrowdSecAllowlist: Allowlist,
})

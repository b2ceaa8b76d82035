import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, PageQuery, Pagination, Timestamp, Uuid } from '../http/schema.ts'

const Clock = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', maxLength: 5, description: '24 hours: `22:00`.' })

const QuietHours = Type.Object(
  { from: Clock, to: Clock, timeZone: Type.String({ maxLength: 60, description: '`Europe/Berlin`, `UTC`.' }) },
  { description: 'Nothing is sent in these hours; what happens then is told at their end.' },
)

const Label = Type.String({ pattern: '^[^\\p{Cc}]*$', maxLength: 100 })
const Kinds = Type.Array(Type.String({ pattern: '^[a-z][a-z-]{0,30}$', maxLength: 31 }), {
  maxItems: 20,
  description: 'First words of the kinds of alerts it takes (`blacklist`, `certificate`, …); null for all.',
})

const Settings = {
  label: Type.Optional(Label),
  kinds: Type.Optional(Nullable(Kinds)),
  quietHours: Type.Optional(Nullable(QuietHours)),
}

export const NewChannel = Type.Union(
  [
    Type.Object({ type: Type.Literal('email'), address: Type.String({ maxLength: 320 }), ...Settings }),
    Type.Object({ type: Type.Literal('webhook'), url: Type.String({ maxLength: 2000 }), ...Settings }),
  ],
  {
    examples: [
      {
        type: 'webhook',
        url: 'https://chat.example/hooks/portreeve',
        quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' },
      },
    ],
  },
)
export type NewChannelBody = Static<typeof NewChannel>

export const ChannelChanges = Type.Object({ ...Settings, enabled: Type.Optional(Type.Boolean()) })

export const Confirmation = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) })

export const Channel = Type.Object({
  id: Uuid,
  type: Type.Enum(['email', 'webhook']),
  address: Nullable(Type.String()),
  url: Nullable(Type.String()),
  label: Type.String(),
  kinds: Nullable(Kinds),
  quietHours: Nullable(QuietHours),
  enabled: Type.Boolean(),
  status: Type.Enum(['active', 'unconfirmed', 'off', 'disabled', 'undeliverable'], {
    description:
      '`unconfirmed`: the code that was mailed there is awaited. `off`: switched off by its owner. `disabled`: by us, after a week of failures or a 410. `undeliverable`: nothing is mailed, because SMTP_URL is not set.',
  }),
  problem: Nullable(Type.String({ description: 'Why nothing arrives, or why the last try failed.' })),
  lastSentAt: Nullable(Timestamp),
  createdAt: Timestamp,
})

/** The answer to its creation, which alone shows the secret. */
export const CreatedChannel = Type.Object({
  ...Channel.properties,
  secret: Nullable(Type.String({ description: 'What requests are signed with (`whsec_…`). Shown this once.' })),
})

export const AlertQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(Type.String({ maxLength: 60, description: 'A kind, or its first word.' })),
})

const Delivery = Type.Object({
  channelId: Uuid,
  type: Type.Enum(['email', 'webhook']),
  status: Type.Enum(['waiting', 'sending', 'sent', 'failed', 'uncertain'], {
    description: '`uncertain`: the relay may have the mail, but did not say so; it is not sent a second time.',
  }),
  at: Nullable(Timestamp),
  error: Nullable(Type.String()),
})

export const Alert = Type.Object({
  id: Uuid,
  kind: Type.String(),
  title: Type.String(),
  text: Type.String(),
  nextStep: Type.String({ description: 'What to do now; empty when there is nothing to do.' }),
  url: Nullable(
    Type.String({
      description:
        'Where the dashboard shows what it is about; null for alerts that were raised before there were links.',
    }),
  ),
  at: Timestamp,
  deliveries: Type.Array(Delivery),
})

export const AlertPage = Type.Object({
  alerts: Type.Array(Alert),
  pagination: Pagination,
  mail: Type.Boolean({ description: 'Whether this service can send mail at all (SMTP_URL).' }),
})

nameComponents({
  QuietHours,
  NewChannel,
  ChannelChanges,
  Channel,
  CreatedChannel,
  ChannelConfirmation: Confirmation,
  Alert,
  AlertDelivery: Delivery,
})

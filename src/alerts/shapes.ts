import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, PageQuery, Pagination, Timestamp, Uuid } from '../http/schema.ts'
import { NewChannel } from './channels/registry.ts'
import { channelSettings, Kinds, QuietHours } from './channels/settings.ts'
import { CHANNEL_TYPE_NAMES } from './channels/store.ts'

export { NewChannel }
export type NewChannelBody = Static<typeof NewChannel>

export const ChannelChanges = Type.Object({
  ...channelSettings,
  enabled: Type.Optional(Type.Boolean()),
})

export const Confirmation = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) })

export const Channel = Type.Object({
  id: Uuid,
  type: Type.Enum([...CHANNEL_TYPE_NAMES]),
  address: Nullable(Type.String()),
  url: Nullable(
    Type.String({ description: 'For the role `read-only` without its path, which is a secret.' }),
  ),
  label: Type.String(),
  kinds: Nullable(Kinds),
  quietHours: Nullable(QuietHours),
  enabled: Type.Boolean(),
  status: Type.Enum(['active', 'unconfirmed', 'off', 'disabled', 'undeliverable'], {
    description:
      '`unconfirmed`: the emailed code was not entered yet. `off`: turned off by a member. `disabled`: turned off by the service, after a week of failures or a 410 response. `undeliverable`: email is not configured (SMTP_URL).',
  }),
  problem: Nullable(
    Type.String({ description: 'Why the channel does not work, or why the last attempt failed.' }),
  ),
  lastSentAt: Nullable(Timestamp),
  createdAt: Timestamp,
})

/** Response to the creation, the only one that contains the secret. */
export const CreatedChannel = Type.Object({
  ...Channel.properties,
  secret: Nullable(
    Type.String({ description: 'Key that signs the requests (`whsec_…`). Shown only once.' }),
  ),
})

export const AlertQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(
    Type.String({ maxLength: 60, description: 'An alert kind, or its first word.' }),
  ),
})

const Delivery = Type.Object({
  channelId: Uuid,
  type: Type.Enum([...CHANNEL_TYPE_NAMES]),
  status: Type.Enum(['waiting', 'sending', 'sent', 'failed', 'uncertain'], {
    description:
      '`uncertain`: the relay may have accepted the email but did not confirm it; it is not sent again.',
  }),
  at: Nullable(Timestamp),
  error: Nullable(Type.String()),
})

export const Alert = Type.Object({
  id: Uuid,
  kind: Type.String(),
  title: Type.String(),
  text: Type.String(),
  nextStep: Type.String({ description: 'What to do now; empty when no action is needed.' }),
  url: Nullable(
    Type.String({
      description:
        'Page of the dashboard about this alert; null for alerts from before there were links.',
    }),
  ),
  at: Timestamp,
  deliveries: Type.Array(Delivery),
})

export const AlertPage = Type.Object({
  alerts: Type.Array(Alert),
  pagination: Pagination,
  mail: Type.Boolean({ description: 'Whether this service can send email (SMTP_URL).' }),
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

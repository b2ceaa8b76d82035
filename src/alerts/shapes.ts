import { Type, type Static } from 'typebox'
import {
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Timestamp,
  Uuid,
} from '../http/http-schema.ts'
import { CHANNEL_TYPE_IDS, NewChannel } from './channels/channel-types.ts'
import { channelSettings, Kinds, QuietHours } from './channels/channel-settings.ts'
import { PHASES, SEVERITIES } from './severity.ts'
import { handlingFields, Silenced } from './silence/shapes.ts'

export { NewChannel }
export type NewChannelBody = Static<typeof NewChannel>

export const ChannelChanges = Type.Object({
  ...channelSettings,
  enabled: Type.Optional(Type.Boolean()),
  settings: Type.Optional(
    Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 2000 }), {
      maxProperties: 20,
      description: 'Changed fields of the channel type; the others keep their values.',
    }),
  ),
})

export const Confirmation = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) })

const SeverityName = Type.Enum([...SEVERITIES], {
  description: 'From the most to the least urgent.',
})

const ChannelTypeId = Type.Enum(CHANNEL_TYPE_IDS)

export const Channel = Type.Object({
  id: Uuid,
  type: ChannelTypeId,
  name: Type.String({ description: 'Short name without secrets, such as `ntfy.sh/alerts`.' }),
  settings: Nullable(Type.Record(Type.String(), Type.String()), {
    description:
      'Fields of the channel type; secrets as host and last four characters. Null for `email` and `webhook`.',
  }),
  address: Nullable(Type.String()),
  url: Nullable(
    Type.String({ description: 'For the role `read-only` without its path, which is a secret.' }),
  ),
  label: Type.String(),
  kinds: Nullable(Kinds),
  minSeverity: Nullable(SeverityName),
  criticalAnytime: Type.Boolean(),
  quietHours: Nullable(QuietHours),
  actionLinks: Type.Boolean({
    description: 'Whether messages contain links to acknowledge, snooze and mute.',
  }),
  enabled: Type.Boolean(),
  status: Type.Enum(['active', 'unconfirmed', 'off', 'disabled', 'undeliverable'], {
    description:
      '`unconfirmed`: the emailed code was not entered yet. `off`: turned off by a member. `disabled`: turned off by the service, after a week of failures or a 410 response. `undeliverable`: email is not configured (SMTP_URL).',
  }),
  problem: Nullable(
    Type.String({ description: 'Why the channel does not work, or why the last attempt failed.' }),
  ),
  failingSince: Nullable(Timestamp, {
    description: 'Since when every attempt failed; null after a success.',
  }),
  waiting: Type.Integer({ description: 'Alerts that wait to be sent.' }),
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

const PhaseName = Type.Enum([...PHASES], {
  description:
    '`open`, `update` and `resolved`: the incident begins, changes and ends. `once`: an event without an end.',
})

const IncidentState = Type.Enum(['open', 'resolved'])

const Kind = Type.String({ maxLength: 60, description: 'An alert kind, or its first word.' })

const ChannelField = Type.Object({
  name: Type.String(),
  label: Type.String(),
  help: Nullable(Type.String()),
  placeholder: Nullable(Type.String()),
  default: Nullable(Type.String()),
  choices: Nullable(Type.Array(Type.String())),
  required: Type.Boolean(),
  secret: Type.Boolean({ description: 'Whether it is never shown again.' }),
  multiline: Type.Boolean({ description: 'Whether it has several lines.' }),
})

export const ChannelTypeInfo = Type.Object({
  id: ChannelTypeId,
  name: Type.String(),
  group: Type.Enum(['basic', 'chat', 'push', 'paging', 'other']),
  keywords: Type.String({ description: 'Further words by which people look for it.' }),
  docs: Type.String({ description: 'What to create at the service.' }),
  manual: Nullable(
    Type.Object({
      ending: Type.String({ description: 'What the end of a problem does.' }),
      disabling: Type.String({ description: 'Responses that disable the channel.' }),
      limits: Type.Object(
        { title: Type.Integer(), text: Type.Integer(), perMinute: Type.Integer() },
        { description: 'Characters of title and text, and messages a minute.' },
      ),
    }),
    { description: 'Null for `email` and `webhook`.' },
  ),
  hasSettings: Type.Boolean({
    description:
      'Whether its fields are sent as `settings`, can change, and can be tested before the channel is created. The field of other types is one of the channel itself.',
  }),
  hasActionLinks: Type.Boolean({
    description: 'Whether its messages can contain links to acknowledge, snooze and mute.',
  }),
  fields: Type.Array(ChannelField, { description: 'Fields of the form, in their order.' }),
  schema: Type.Record(Type.String(), Type.Unknown(), {
    description: 'JSON Schema of the settings.',
  }),
})

export const TestResult = Type.Object({
  responses: Type.Array(Type.String(), { description: 'The service’s own words.' }),
})

export const AlertQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(Kind),
  severity: Type.Optional(SeverityName),
  phase: Type.Optional(PhaseName),
  state: Type.Optional({ ...IncidentState, description: 'State of the alert’s incident.' }),
  incidentId: Type.Optional(Uuid),
})

export const IncidentQuery = Type.Object({
  ...PageQuery.properties,
  kind: Type.Optional(Kind),
  severity: Type.Optional(SeverityName),
  state: Type.Optional(IncidentState),
})

const Delivery = Type.Object({
  channelId: Nullable(Uuid, { description: 'Null where the channel was deleted.' }),
  channel: Type.String({ description: 'Name of the channel, without secrets.' }),
  type: ChannelTypeId,
  status: Type.Enum(['waiting', 'sending', 'sent', 'failed', 'uncertain', 'dropped'], {
    description:
      '`uncertain`: the relay may have accepted the email but did not confirm it; it is not sent again. `dropped`: the problem had ended before it was sent.',
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
  severity: SeverityName,
  phase: PhaseName,
  incident: Nullable(
    Type.String({
      description:
        'Name of the problem, such as `blacklist/8.8.4.4/zone`; null for an event without an end.',
    }),
  ),
  incidentId: Nullable(Uuid),
  state: Nullable(IncidentState, { description: 'State of the incident.' }),
  silenced: Nullable(Silenced, { description: 'Why it was not sent; null where it was.' }),
  deliveries: Type.Array(Delivery),
})

export const Incident = Type.Object({
  id: Uuid,
  key: Type.String({
    description: 'Name of the problem, such as `blacklist/8.8.4.4/zone`. One is open at a time.',
  }),
  state: IncidentState,
  severity: SeverityName,
  kind: Type.String({ description: 'Kind of the last alert that did not resolve it.' }),
  title: Type.String({ description: 'Title of that alert.' }),
  url: Nullable(Type.String()),
  alerts: Type.Integer({ description: 'Number of alerts, with the one that resolved it.' }),
  openedAt: Timestamp,
  updatedAt: Timestamp,
  resolvedAt: Nullable(Timestamp),
  ...handlingFields,
})

export const IncidentPage = Type.Object({
  incidents: Type.Array(Incident),
  pagination: Pagination,
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
  AlertIncident: Incident,
  AlertChannelType: ChannelTypeInfo,
  AlertChannelField: ChannelField,
})

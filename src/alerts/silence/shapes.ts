import { Type } from 'typebox'
import { MAX_LENGTH, nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import { MUTE_MINUTES, SNOOZE_MINUTES } from './limits.ts'

export const Silenced = Type.Enum(['muted', 'snoozed', 'acknowledged', 'summarised'], {
  description:
    '`snoozed`: held back until the snooze ends. `summarised`: the message at its end counted it.',
})

/** Who acted, where links count as the channel that they were in. */
const Actor = Type.String({
  description: 'Email address of the member, or the channel whose link was used.',
})

const IncidentMute = Type.Object({
  id: Uuid,
  reason: Type.String(),
  until: Nullable(Timestamp),
  by: Actor,
})

/** Fields of an incident that say who handles it. */
export const handlingFields = {
  acknowledgedAt: Nullable(Timestamp),
  acknowledgedBy: Nullable(Actor),
  snoozedUntil: Nullable(Timestamp, { description: 'Before it nothing is sent about it.' }),
  snoozedBy: Nullable(Actor),
  mute: Nullable(IncidentMute, { description: 'The mute that covers it; null where none does.' }),
}

const Until = Type.String({ format: 'date-time', maxLength: MAX_LENGTH.date })

/** For how long: `until` or `minutes`. */
export const NewSnooze = Type.Object(
  {
    until: Type.Optional(Until),
    minutes: Type.Optional(
      Type.Integer({ minimum: SNOOZE_MINUTES.least, maximum: SNOOZE_MINUTES.most }),
    ),
  },
  {
    description: 'Either `minutes` or `until`, 15 minutes to 30 days from now.',
    examples: [{ minutes: 240 }],
  },
)

/** A page of the dashboard, or the name of an incident or its beginning. */
const MutedObject = Type.String({
  minLength: 1,
  maxLength: 300,
  pattern: '^[^\\s\\p{Cc}]+$',
  description:
    'Path of a dashboard page (`/monitoring/ID`), or the name of an incident or its beginning (`blacklist/8.8.4.4`).',
})
const MutedKind = Type.String({
  pattern: '^[a-z][a-z-]{0,30}(\\.[a-z][a-z-]{0,30})?$',
  maxLength: 62,
  description: 'An alert kind, or its first word.',
})
const Label = Type.String({ pattern: SHOWN_NAME, maxLength: 200 })

export const NewMute = Type.Object(
  {
    object: Type.Optional(MutedObject),
    kind: Type.Optional(MutedKind),
    label: Type.Optional({ ...Label, description: 'Name of the object for people.' }),
    reason: Type.Optional(Label),
    until: Type.Optional(Until),
    minutes: Type.Optional(
      Type.Integer({ minimum: MUTE_MINUTES.least, maximum: MUTE_MINUTES.most }),
    ),
  },
  {
    description:
      '`object`, `kind` or both. Without `minutes` and `until` it stays until it is deleted.',
    examples: [{ object: 'blacklist/8.8.4.4', minutes: 1440, reason: 'Delisting requested' }],
  },
)

export const Mute = Type.Object({
  id: Uuid,
  object: Nullable(Type.String()),
  kind: Nullable(Type.String()),
  label: Type.String(),
  reason: Type.String(),
  until: Nullable(Timestamp),
  createdAt: Timestamp,
  createdBy: Actor,
})

nameComponents({ NewAlertMute: NewMute, AlertMute: Mute, AlertSnooze: NewSnooze })

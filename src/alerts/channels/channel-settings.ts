import { Type } from 'typebox'
import { Nullable } from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import { SEVERITIES } from '../severity.ts'

export const Clock = Type.String({
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
  maxLength: 5,
  description: '24 hours: `22:00`.',
})

export const QuietHours = Type.Object(
  {
    from: Clock,
    to: Clock,
    timeZone: Type.String({ maxLength: 60, description: '`Europe/Berlin`, `UTC`.' }),
  },
  { description: 'No alerts are sent during these hours; they are sent at the end.' },
)

export const Kinds = Type.Array(Type.String({ pattern: '^[a-z][a-z-]{0,30}$', maxLength: 31 }), {
  maxItems: 20,
  description:
    'First words of the alert kinds to send (`blacklist`, `certificate`, …); null for all.',
})

const MinSeverity = Type.Enum([...SEVERITIES], {
  description:
    'Alerts that are less urgent are not sent; null sends all. The end of a problem goes where its beginning went.',
})

/** Settings of a channel of any type. */
export const channelSettings = {
  label: Type.Optional(Type.String({ pattern: SHOWN_NAME, maxLength: 100 })),
  kinds: Type.Optional(Nullable(Kinds)),
  minSeverity: Type.Optional(Nullable(MinSeverity)),
  criticalAnytime: Type.Optional(
    Type.Boolean({ description: 'Whether critical alerts are sent during quiet hours.' }),
  ),
  quietHours: Type.Optional(Nullable(QuietHours)),
  actionLinks: Type.Optional(
    Type.Boolean({
      description:
        'Whether emails and chat messages contain links with which anyone who sees them can acknowledge, snooze or mute once, without signing in. Default true.',
    }),
  ),
}

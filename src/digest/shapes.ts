import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp } from '../http/http-schema.ts'
import { FREQUENCIES } from './digest-subscriptions.sql.ts'

const Weekday = Type.Integer({
  minimum: 1,
  maximum: 7,
  description: 'The day of a weekly digest: 1 is Monday, 7 is Sunday.',
})
const Hour = Type.Integer({ minimum: 0, maximum: 23, description: 'The hour in local time.' })
const TimeZone = Type.String({
  minLength: 1,
  maxLength: 60,
  description: 'A name of the IANA database: `Europe/Berlin`, `UTC`.',
})
const Frequency = Type.Enum([...FREQUENCIES])

export const DigestSettings = Type.Object(
  {
    frequency: Frequency,
    weekday: Type.Optional(Weekday),
    hour: Type.Optional(Hour),
    timeZone: Type.Optional(TimeZone),
  },
  { examples: [{ frequency: 'weekly', weekday: 1, hour: 8, timeZone: 'Europe/Berlin' }] },
)
export type DigestSettings = Static<typeof DigestSettings>

export const Digest = Type.Object({
  frequency: Frequency,
  weekday: Weekday,
  hour: Hour,
  timeZone: TimeZone,
  email: Type.String({ description: 'The address of your account, which gets the digest.' }),
  problem: Nullable(
    Type.String({ description: 'Why no digest can be sent; null where nothing prevents it.' }),
  ),
  nextAt: Nullable(Timestamp),
  lastOutcome: Nullable(
    Type.Enum(['sent', 'failed', 'uncertain', 'skipped'], {
      description:
        '`uncertain`: the relay may have accepted the email but did not confirm it; it is not sent again.',
    }),
  ),
  lastOutcomeAt: Nullable(Timestamp),
  lastError: Nullable(Type.String()),
})
export type Digest = Static<typeof Digest>

export const PreviewQuery = Type.Object({
  frequency: Type.Enum(['daily', 'weekly'], { default: 'weekly' }),
  format: Type.Enum(['json', 'html'], {
    default: 'json',
    description: '`html`: the email as a page, without scripts.',
  }),
  timeZone: Type.Optional(TimeZone),
})

export const DigestPreview = Type.Object({
  subject: Type.String(),
  text: Type.String(),
  html: Type.String(),
})

nameComponents({ DigestSettings, Digest, DigestPreview })

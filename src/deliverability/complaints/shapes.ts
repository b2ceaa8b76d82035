import { Type, type Static } from 'typebox'
import { MAX_LENGTH, nameComponents, Nullable, Timestamp } from '../../http/http-schema.ts'
import { MAX_SUMMARY_DAYS } from '../limits.ts'
import { SPAM_RATE_LEVELS } from '../spam-rates/spam-rate.ts'

const Day = Type.String({ description: 'A day in UTC.', examples: ['2026-11-30'] })

export const ComplaintAddress = Type.Object({
  address: Nullable(
    Type.String({
      description: 'Where providers send complaints; null while this service receives no mail.',
    }),
  ),
  createdAt: Timestamp,
  otherMails: Type.Integer({ description: 'Mails to it that were no complaints.' }),
  otherFrom: Nullable(Type.String({ description: 'The sender of the latest of them.' })),
  otherSubject: Nullable(Type.String()),
  otherAt: Nullable(Timestamp),
})
export type ComplaintAddress = Static<typeof ComplaintAddress>

const Provider = Type.Object({
  provider: Nullable(
    Type.String({
      description: '`microsoft`, `yahoo` or the domain that reports; null where it is not known.',
    }),
  ),
  name: Type.String(),
  complaints: Type.Integer({ description: 'In reports that are authenticated.' }),
  notSpam: Type.Integer({ description: 'Reports that a mail is no spam.' }),
  unverified: Type.Integer({
    description: 'Complaints in reports that are not: anyone can write them.',
  }),
  firstDay: Nullable(Type.String(), {
    description: 'The day of its first complaint. Before it, complaints are unknown, not 0.',
  }),
  days: Type.Array(
    Type.Object({
      day: Day,
      complaints: Type.Integer(),
      messages: Nullable(
        Type.Integer({ description: 'As its DMARC reports count; null without one.' }),
      ),
    }),
    { description: 'From `firstDay` on.' },
  ),
  messages: Nullable(Type.Integer({ description: 'On the days that DMARC reports cover.' })),
  rate: Nullable(
    Type.Number({ description: 'Complaints per message on these days, 0 to 1; null if unknown.' }),
  ),
  alert: Nullable(Type.Enum([...SPAM_RATE_LEVELS]), {
    description: 'The limit that the rate has reached: `raised` from 0.1%, `high` from 0.3%.',
  }),
})
export type ComplaintProvider = Static<typeof Provider>

const group = {
  complaints: Type.Integer(),
  recipients: Nullable(
    Type.Integer({ description: 'How many complained; null where providers remove who it was.' }),
  ),
  lastAt: Timestamp,
}

export const ComplaintSummary = Type.Object({
  address: Nullable(ComplaintAddress),
  mailboxes: Type.Array(Type.String(), {
    description: 'Report mailboxes, from which complaints are taken too.',
  }),
  days: Type.Integer(),
  providers: Type.Array(Provider),
  sources: Type.Array(
    Type.Object({
      source: Nullable(Type.String({ description: 'The address that sent the mails.' })),
      ...group,
    }),
  ),
  domains: Type.Array(
    Type.Object({
      domain: Nullable(Type.String({ description: 'The domain in From.' })),
      ...group,
    }),
  ),
  campaigns: Type.Array(
    Type.Object({
      kind: Nullable(Type.Enum(['list', 'feedback-id', 'campaign', 'subject']), {
        description: 'The field that names it; `subject`: mails with the same subject.',
      }),
      campaign: Nullable(
        Type.String({ description: 'A hash for a subject, or for what may name a person.' }),
      ),
      ...group,
    }),
  ),
})
export type ComplaintSummary = Static<typeof ComplaintSummary>

export const ComplaintQuery = Type.Object({
  domain: Type.Optional(
    Type.String({
      maxLength: MAX_LENGTH.host,
      description: 'Only mails of this domain and the names below it.',
      examples: ['example.com'],
    }),
  ),
  days: Type.Integer({ minimum: 1, maximum: MAX_SUMMARY_DAYS, default: 30 }),
})

nameComponents({ ComplaintAddress, ComplaintSummary })

import { Type, type Static } from 'typebox'
import {
  MAX_LENGTH,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Timestamp,
  Uuid,
} from '../../http/http-schema.ts'
import { CANARY_HOURS, MAX_SUMMARY_DAYS } from '../limits.ts'
import { OUTCOMES } from './placement-outcome.ts'

const Outcome = Type.Enum([...OUTCOMES], {
  description:
    '`category`: another folder, or a tab of Gmail. `late`: after more than 10 minutes. `missing`: not within an hour. `refused`: the server of the sender rejected it. `unknown`: it could not be sent or looked for.',
})

export const CanaryResult = Type.Object({
  id: Uuid,
  seedId: Uuid,
  sentAt: Timestamp,
  outcome: Nullable(Outcome, { description: 'Null while the mail is looked for.' }),
  voidReason: Nullable(
    Type.String({
      description:
        'The mailbox lets the sender through whatever a filter thinks: it does not count.',
      examples: ['SFV:SKA'],
    }),
  ),
  folder: Nullable(Type.String({ description: 'The folder or category that has it.' })),
  delaySeconds: Nullable(Type.Integer()),
  detail: Nullable(Type.String({ description: 'What a server said, or why it is unknown.' })),
})
export type CanaryResult = Static<typeof CanaryResult>

const Sign = {
  host: Type.String({ minLength: 1, maxLength: 255 }),
  tlsVerify: Type.Boolean({ default: true }),
  user: Type.String({ minLength: 1, maxLength: 500 }),
}
const Port = (port: number) => Type.Integer({ minimum: 1, maximum: 65_535, default: port })
const Password = Type.String({
  minLength: 1,
  maxLength: 10_000,
  description: 'Stored encrypted and never returned.',
})
const EveryHours = Type.Enum([...CANARY_HOURS], {
  description: 'Hours between two runs, each with one mail per seed.',
})

export const CanarySeed = Type.Object({
  id: Uuid,
  email: Type.String(),
  provider: Type.String({
    description: '`google`, `microsoft`, `yahoo`, `fastmail` or the domain of the server.',
  }),
  ...Sign,
  port: Type.Integer(),
  secure: Type.Boolean(),
  credentialId: Nullable(Uuid),
  problem: Nullable(Type.String({ description: 'Why the mailbox could not be read.' })),
  needsSignIn: Type.Boolean({
    description: 'Its sign-in at the provider has ended: renew it, and the mailbox is read again.',
  }),
  isBad: Type.Boolean({ description: 'Two or three of the last three mails missed the inbox.' }),
  isBlind: Type.Boolean({ description: 'Nothing is known of the last three mails.' }),
  stateSince: Timestamp,
  latest: Nullable(CanaryResult),
  createdAt: Timestamp,
})
export type CanarySeed = Static<typeof CanarySeed>

export const Canary = Type.Object({
  id: Uuid,
  sender: Type.String(),
  domain: Type.String(),
  ...Sign,
  port: Type.Integer(),
  secure: Type.Boolean(),
  everyHours: Type.Integer(),
  enabled: Type.Boolean(),
  nextRunAt: Nullable(Timestamp),
  lastRunAt: Nullable(Timestamp),
  problem: Nullable(Type.String({ description: 'Why the last mails could not be sent.' })),
  seeds: Type.Array(CanarySeed),
  createdAt: Timestamp,
})
export type Canary = Static<typeof Canary>

export const NewCanary = Type.Object(
  {
    sender: Type.String({
      maxLength: MAX_LENGTH.email,
      description: 'The author address of the mails.',
    }),
    ...Sign,
    port: Port(587),
    secure: Type.Boolean({
      default: false,
      description: 'TLS from the first byte (port 465). False: STARTTLS, which is required.',
    }),
    password: Password,
    everyHours: Type.Optional(EveryHours),
  },
  {
    examples: [
      {
        sender: 'news@example.com',
        host: 'smtp.example.com',
        user: 'news@example.com',
        password: 'secret',
      },
    ],
  },
)
export type NewCanary = Static<typeof NewCanary>

export const CanaryChanges = Type.Object({
  enabled: Type.Optional(Type.Boolean()),
  everyHours: Type.Optional(EveryHours),
})

export const NewSeed = Type.Object(
  {
    email: Type.String({ maxLength: MAX_LENGTH.email }),
    ...Sign,
    port: Port(993),
    secure: Type.Boolean({
      default: true,
      description: 'Implicit TLS. False: STARTTLS if offered.',
    }),
    password: Type.Optional(Password),
    credentialId: Type.Optional({
      ...Uuid,
      description: 'A sign-in (`/api/v1/imap/credentials`) in place of a password.',
    } as typeof Uuid),
  },
  {
    oneOf: [{ required: ['password'] }, { required: ['credentialId'] }],
    examples: [
      {
        email: 'seed@gmail.com',
        host: 'imap.gmail.com',
        user: 'seed@gmail.com',
        password: 'secret',
      },
    ],
  },
)
export type NewSeed = Static<typeof NewSeed>

export const CanaryQuery = Type.Object({
  domain: Type.Optional(Type.String({ maxLength: MAX_LENGTH.host })),
})

export const CanaryResultQuery = PageQuery

export const CanaryResultList = Type.Object({
  success: Type.Literal(true),
  data: Type.Array(CanaryResult),
  pagination: Pagination,
})

export const CanaryDaysQuery = Type.Object({
  days: Type.Integer({ minimum: 1, maximum: MAX_SUMMARY_DAYS, default: 30 }),
})

/** Outcomes of a provider on one day; days without a mail are missing. */
export const CanaryDay = Type.Object({
  day: Type.String({ description: 'A day in UTC.' }),
  provider: Type.String(),
  outcome: Outcome,
  count: Type.Integer(),
  voids: Type.Integer({ description: 'How many of them do not count.' }),
})
export type CanaryDay = Static<typeof CanaryDay>

nameComponents({ Canary, CanarySeed, CanaryResult, CanaryDay })

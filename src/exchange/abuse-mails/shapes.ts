import { Type } from 'typebox'
import {
  MAX_LENGTH,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Success,
  Timestamp,
  Uuid,
} from '../../http/http-schema.ts'

const MAIL_MODES = ['off', 'test', 'on'] as const
const Mode = Type.Enum([...MAIL_MODES], {
  description: '`test`: every email goes to the contact instead.',
})

export const AbuseMailSettings = Type.Object(
  {
    mode: Mode,
    contact: Nullable(Type.String(), {
      description:
        'The member who turned it on; recipients answer there. Null while it was never on.',
    }),
    bounces: Type.Enum(['off', 'read', 'failing'], {
      description:
        'Whether this installation notices emails that come back (ABUSE_RETURN_PATH), and whether it can read its mailbox for them.',
    }),
    canSend: Type.Boolean({ description: 'Whether this installation sends email (SMTP_URL).' }),
  },
  { examples: [{ mode: 'test', contact: 'ops@example.com', bounces: 'read', canSend: true }] },
)

export const AbuseMailChange = Type.Object({ mode: Mode }, { examples: [{ mode: 'test' }] })

const mail = {
  id: Uuid,
  day: Type.String({ format: 'date', description: 'The day (UTC) of the attacks.' }),
  recipient: Type.String(),
  network: Type.String({ description: 'The range and name of the network.' }),
  isTest: Type.Boolean({ description: 'It went to the contact instead.' }),
  state: Type.Enum(['waiting', 'sending', 'sent', 'skipped', 'failed', 'uncertain']),
  reason: Type.String({ description: 'Why it was skipped or failed, or why it waits.' }),
  endedAt: Nullable(Timestamp),
}

export const AbuseMailPage = Success(
  Type.Object({
    mails: Type.Array(Type.Object({ ...mail, addresses: Type.Integer() })),
    pagination: Pagination,
  }),
)

export const AbuseMailDetail = Success(
  Type.Object({
    ...mail,
    to: Type.String({ description: 'Where it goes: in test mode, to the contact.' }),
    subject: Type.String(),
    text: Type.String(),
    attachments: Type.Array(Type.Object({ filename: Type.String(), content: Type.String() })),
  }),
)

export const AbuseMailQuery = PageQuery
export const AbuseMailParam = Type.Object({ id: Uuid })

const Email = Type.String({ maxLength: MAX_LENGTH.email, pattern: '^[^@\\s]+@[^@\\s]+$' })

export const OptOutQuery = Type.Object({ ...PageQuery.properties, email: Type.Optional(Email) })
export const OptOutParam = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{64}$', maxLength: 64 }),
})

export const OptOutPage = Success(
  Type.Object({
    optOuts: Type.Array(
      Type.Object({
        id: Type.String({ description: 'SHA-256 of the address, which is all that is stored.' }),
        email: Nullable(Type.String(), {
          description: 'Null while no network or email that is stored has this address.',
        }),
        source: Type.Enum(['link', 'bounce', 'administrator'], {
          description:
            '`link`: the recipient, with the link of an email; `bounce`: a mail server rejected an email for good.',
        }),
        createdAt: Timestamp,
      }),
    ),
    pagination: Pagination,
  }),
)

export const NewOptOut = Type.Object(
  { email: Email },
  { examples: [{ email: 'abuse@example.net' }] },
)

nameComponents({ AbuseMailSettings, AbuseMailChange, NewAbuseMailOptOut: NewOptOut })

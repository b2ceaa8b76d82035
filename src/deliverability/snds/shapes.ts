import { Type, type Static } from 'typebox'
import { MAX_LENGTH, nameComponents, Nullable, Timestamp } from '../../http/http-schema.ts'
import { ACCESS_STATES } from '../postmaster/shapes.ts'

/** Characters of an address; codes of Microsoft have up to 2,000. */
const MAX_ANSWER_LENGTH = 8_000

const Count = Nullable(Type.Integer())

/** What Microsoft counted of an address on a day. Null is “no data”, never 0. */
export const SndsDay = Type.Object({
  address: Type.String({ examples: ['192.0.2.1'] }),
  day: Type.String({ description: 'A day as Microsoft counts it.', examples: ['2026-11-28'] }),
  rcptCommands: Count,
  dataCommands: Count,
  recipients: Count,
  filter: Nullable(Type.Enum(['green', 'yellow', 'red']), {
    description: 'Up to 10% of the mail was rated as spam, up to 90%, or more.',
  }),
  complaintRate: Nullable(
    Type.String({ description: 'As Microsoft writes it.', examples: ['< 0.1%'] }),
  ),
  complaintLow: Nullable(Type.Number({ description: 'The lowest rate that this means, 0 to 1.' })),
  complaintHigh: Nullable(Type.Number({ description: 'The highest one; null without an end.' })),
  trapHits: Nullable(Type.Integer(), {
    description: 'Messages to spam traps. Microsoft stopped counting them in 2026.',
  }),
  helo: Nullable(Type.String()),
  mailFrom: Nullable(Type.String()),
  comments: Nullable(Type.String()),
})
export type SndsDay = Static<typeof SndsDay>

const SndsBlock = Type.Object({
  first: Type.String(),
  last: Type.String(),
  isBlocked: Type.Boolean({ description: 'False: delivered to junk, or otherwise abnormal.' }),
  detail: Type.String({ description: 'Why, in the words of Microsoft.' }),
})

export const SndsAccess = Type.Object({
  access: Nullable(
    Type.Object({
      kind: Type.Enum(['sign-in', 'links']),
      account: Nullable(Type.String({ description: 'Who signed in at Microsoft.' })),
      hasStatusLink: Type.Boolean({ description: 'A sign-in needs no links.' }),
      enteredAt: Nullable(Timestamp, { description: 'Of links.' }),
      linksEndAt: Nullable(Timestamp),
      approvedOn: Nullable(Type.String({ description: 'When Microsoft last approved it.' })),
      approvalEndsOn: Nullable(Type.String({ description: 'Ten months later.' })),
      state: Type.Enum([...ACCESS_STATES], {
        description: '`ended`: sign in again, or enter new links.',
      }),
      problem: Nullable(Type.String()),
      unreadable: Nullable(
        Type.String({ description: 'What of the last fetch could not be read.' }),
      ),
      fetchedAt: Nullable(Timestamp),
      nextFetchAt: Nullable(Timestamp),
    }),
  ),
  addresses: Type.Array(SndsDay, {
    description: 'The latest day of each address in the last 30 days, worst first.',
  }),
  blocks: Type.Array(SndsBlock),
})
export type SndsAccess = Static<typeof SndsAccess>

const Link = (description: string) =>
  Type.String({ minLength: 1, maxLength: MAX_LENGTH.host, description })

const ApprovedOn = Nullable(
  Type.String({ format: 'date', maxLength: MAX_LENGTH.date, examples: ['2026-11-02'] }),
  { description: 'When Microsoft last approved the access: it ends after ten months.' },
)

export const NewSndsAccess = Type.Object({
  dataLink: Link('The link “IP data” of the automated data access.'),
  statusLink: Type.Optional(Link('The link “IP status”.')),
  approvedOn: Type.Optional(ApprovedOn),
})

export const StartedSndsSignIn = Type.Object({
  url: Type.String({ description: 'The page of Microsoft.' }),
  expiresAt: Timestamp,
})

export type StartedSndsSignIn = Static<typeof StartedSndsSignIn>

export const SndsSignInAnswer = Type.Object(
  {
    address: Type.String({
      minLength: 1,
      maxLength: MAX_ANSWER_LENGTH,
      description: 'The address at which the sign-in ended, or its query.',
    }),
  },
  { examples: [{ address: 'http://localhost/?code=M.C1&state=abc' }] },
)

export const SndsApproval = Type.Object({ approvedOn: ApprovedOn })

nameComponents({ SndsAccess, SndsDay, StartedSndsSignIn })

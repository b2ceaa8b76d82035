import { Type, type Static } from 'typebox'
import {
  MAX_LENGTH,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Timestamp,
  Uuid,
} from '../http/http-schema.ts'
import { MAX_MAIL_BYTES } from './limits.ts'
import { CHECK_GROUPS, FINDING_STATES, SEVERITIES } from './mail-tests/analysis/finding.ts'

const State = Type.Enum([...FINDING_STATES], {
  description:
    '`not-checked`: it does not apply, or what decides it could not be found out. Never counted as passed.',
})

export const MailFinding = Type.Object({
  id: Type.String({ examples: ['reverse-name'] }),
  group: Type.Enum([...CHECK_GROUPS]),
  severity: Type.Enum([...SEVERITIES], {
    description:
      'The weight of a failure. `blocks`: it alone may cost delivery. `hurts`: it adds to suspicion.',
  }),
  state: State,
  title: Type.String(),
  rule: Type.String({ description: 'What receivers expect.' }),
  source: Type.String({ description: 'Where that is written.' }),
  evidence: Type.String({ description: 'What was seen.' }),
  fix: Nullable(Type.String({ description: 'What to do about a failure.' })),
})
export type MailFinding = Static<typeof MailFinding>

const Receiver = Type.Object({
  receiver: Type.String({ examples: ['google'] }),
  volume: Type.Enum(['all', 'bulk']),
  title: Type.String({ examples: ['Gmail, below 5,000 a day'] }),
  source: Type.String({ description: 'URL of the requirements.' }),
  passedCount: Type.Integer(),
  requirements: Type.Array(
    Type.Object({
      title: Type.String(),
      state: State,
      checks: Type.Array(Type.String(), { description: 'Ids of the findings that decide.' }),
    }),
  ),
})
export type MailReceiver = Static<typeof Receiver>

const Engine = Type.Object(
  {
    engine: Type.Enum(['rspamd', 'spamassassin']),
    state: Type.Enum(['checked', 'not-checked']),
    score: Nullable(Type.Number()),
    threshold: Nullable(Type.Number()),
    action: Nullable(Type.String()),
    symbols: Type.Array(
      Type.Object({ name: Type.String(), score: Type.Number(), description: Type.String() }),
    ),
    reason: Nullable(Type.String({ description: 'Why there is no answer.' })),
  },
  { description: 'A spam filter of the operator. It does not change the findings.' },
)
export type MailEngine = Static<typeof Engine>

const Background = Type.Object(
  {
    id: Type.Enum(['domain-age', 'address-age', 'neighbors', 'dmarc-failures']),
    title: Type.String(),
    state: Type.Enum(['good', 'notice', 'unknown']),
    sentence: Type.String(),
  },
  { description: 'What may explain mail in spam although every check passes.' },
)
export type MailBackground = Static<typeof Background>

export const TestMailResult = Type.Object({
  number: Type.Integer(),
  origin: Type.Enum(['smtp', 'imap', 'raw'], {
    description:
      'How it came. Only `smtp` is first-hand; else address, greeting and envelope are as reported.',
  }),
  state: Type.Enum(['analyzing', 'done', 'failed'], {
    description: '`failed`: the analysis did not end; send the mail again.',
  }),
  subject: Nullable(Type.String()),
  from: Nullable(Type.String()),
  bytes: Type.Integer(),
  ip: Nullable(Type.String()),
  helo: Nullable(Type.String()),
  mailFrom: Nullable(Type.String({ description: 'The envelope sender; empty for a bounce.' })),
  tls: Nullable(Type.String({ description: 'Version and cipher.' })),
  transcript: Nullable(Type.Array(Type.String(), { description: 'The SMTP session.' })),
  receivedAt: Nullable(Timestamp),
  createdAt: Timestamp,
  verdict: Type.String({ description: 'The result, in one sentence.' }),
  firstStep: Nullable(
    Type.String({
      description:
        'What to do first: about the gravest problem, or else what may explain mail in spam although every check passes. Null until the analysis has ended.',
    }),
  ),
  findings: Type.Array(MailFinding),
  receivers: Type.Array(Receiver),
  engines: Type.Array(Engine),
  background: Type.Array(Background),
  changes: Nullable(
    Type.Array(
      Type.Object({ id: Type.String(), title: Type.String(), before: State, after: State }),
      { description: 'Compared with the mail before; null for the first.' },
    ),
  ),
})
export type TestMailResult = Static<typeof TestMailResult>

export const MailTest = Type.Object({
  id: Uuid,
  address: Nullable(
    Type.String({ description: 'Where to send the mail; null while this service receives none.' }),
    {},
  ),
  code: Type.String({
    description: 'Write it into the subject of a mail to one of `mailboxes` instead.',
  }),
  mailboxes: Type.Array(Type.String(), { description: 'Report mailboxes that are read by IMAP.' }),
  domain: Nullable(
    Type.String({ description: 'As it was created, else the domain in From of its first mail.' }),
  ),
  isOpen: Type.Boolean({ description: 'Whether it takes further mail.' }),
  mailCount: Type.Integer(),
  maxMails: Type.Integer(),
  url: Nullable(Type.String({ description: 'Its public link; null while it is not shared.' })),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  mails: Type.Array(TestMailResult),
})
export type MailTest = Static<typeof MailTest>

/** A test as everyone with its link sees it: without address and code. */
export const SharedMailTest = Type.Object({
  domain: Nullable(Type.String()),
  createdAt: Timestamp,
  mails: Type.Array(TestMailResult),
})
export type SharedMailTest = Static<typeof SharedMailTest>

export const ListedMailTest = Type.Object({
  id: Uuid,
  domain: Nullable(Type.String()),
  subject: Nullable(Type.String({ description: 'Of its latest mail.' })),
  state: Nullable(Type.Enum(['analyzing', 'done', 'failed']), {
    description: 'Of its latest mail; null without one.',
  }),
  mailCount: Type.Integer(),
  isOpen: Type.Boolean(),
  blocks: Type.Integer({ description: 'Failures of the latest mail that block.' }),
  hurts: Type.Integer({ description: 'Failures of the latest mail that hurt.' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
})
export type ListedMailTest = Static<typeof ListedMailTest>

export const MailTestList = Type.Object({
  success: Type.Literal(true),
  data: Type.Array(ListedMailTest),
  pagination: Pagination,
})

const DomainName = Type.String({
  maxLength: MAX_LENGTH.host,
  description: 'The domain that the test belongs to.',
  examples: ['example.com'],
})

export const NewMailTest = Type.Object({ domain: Type.Optional(DomainName) })

export const MailTestQuery = Type.Object({
  ...PageQuery.properties,
  domain: Type.Optional(DomainName),
})

export const RawMail = Type.Object({
  message: Type.String({
    maxLength: Math.ceil(MAX_MAIL_BYTES / 3) * 4,
    description: 'The mail with its header, up to 10 MB.',
  }),
  encoding: Type.Enum(['utf8', 'base64'], {
    default: 'utf8',
    description: 'Base64 keeps every byte, on which signatures depend.',
  }),
  ip: Type.Optional(
    Type.String({
      maxLength: MAX_LENGTH.address,
      description: 'The address that delivered it; else that of its Received fields.',
    }),
  ),
  helo: Type.Optional(Type.String({ maxLength: 255 })),
  mailFrom: Type.Optional(
    Type.String({ maxLength: MAX_LENGTH.email, description: 'The envelope sender.' }),
  ),
  domain: Type.Optional(DomainName),
  test: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Adds the mail to this test, to see what changed, instead of creating one.',
    }),
  ),
})

nameComponents({ MailFinding, MailTest, ListedMailTest, SharedMailTest, TestMailResult })

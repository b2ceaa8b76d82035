import { Type, type Static } from 'typebox'
import { Address, nameComponents, Nullable, PageQuery, Pagination, Timestamp, Uuid } from '../http/schema.ts'
import { CATEGORIES } from '../protocols/dnsbl-catalogue.ts'
import { METHODS, NEEDS, OUTCOMES, STEP_STATUSES } from './steps/state-machine.ts'
import { PROCESS_STATUSES } from './store.ts'

/** PostgreSQL keeps no NUL, and a mail needs no other control characters than the ends of lines. */
const Words = Type.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b-\\u000c\\u000e-\\u001f\\u007f]*$',
})

export const NewProcess = Type.Object(
  {
    ip: Type.String({ maxLength: 100, description: 'A public address.' }),
    cause: Type.Optional({ ...Words, description: 'Why it was listed, for the lists to read.' }),
    fix: Type.Optional({ ...Words, description: 'What was done about it, and when.' }),
  },
  {
    examples: [
      { ip: '8.8.4.4', cause: 'A mailbox with a guessed password sent spam.', fix: 'Password changed on 20 November.' },
    ],
  },
)

export const Confirmation = Type.Object(
  {
    cause: Type.Optional(Words),
    fix: Type.Optional(Words),
    text: Type.Optional({ ...Words, maxLength: 5_000, description: 'Sent in place of the prepared text.' }),
  },
  { examples: [{ cause: 'An open relay.', fix: 'Closed on 20 November.' }] },
)

const Answer = Type.Object({
  status: Type.Enum(['listed', 'clean', 'unknown']),
  at: Timestamp,
  codes: Type.Array(Type.String()),
  meanings: Type.Array(Type.String()),
  reason: Nullable(Type.String({ description: 'The list’s own text.' })),
  detail: Nullable(Type.String({ description: 'Why unknown, or what is odd about the list.' })),
  health: Type.String(),
})

const Request = Type.Object(
  {
    to: Nullable(Type.String({ description: 'The list’s mail address, where it takes mail.' })),
    subject: Type.String(),
    text: Type.String(),
    state: Type.Enum(['none', 'claimed', 'made', 'unsure']),
    at: Nullable(Timestamp),
    messageId: Nullable(Type.String()),
    reply: Nullable(Type.String({ description: 'What the mail relay said.' })),
  },
  {
    description:
      'What the list is asked, or for `provider` the owner of the network, and whether it was. `unsure`: nobody knows; it is not sent again.',
  },
)

export const DelistingStep = Type.Object({
  id: Uuid,
  blacklistName: Type.String(),
  dnsbl: Type.String(),
  category: Type.Enum([...CATEGORIES]),
  method: Type.Enum([...METHODS]),
  status: Type.Enum([...STEP_STATUSES]),
  attempt: Type.Integer({ minimum: 1 }),
  outcome: Nullable(Type.Enum([...OUTCOMES])),
  needs: Nullable(Type.Enum([...NEEDS], { description: 'What a person must do before it goes on.' })),
  nextStep: Type.String({ description: 'What comes next and who does it, in plain words.' }),
  url: Nullable(Type.String({ description: 'The list’s page about leaving it.' })),
  request: Nullable(Request),
  firstAnswer: Answer,
  lastAnswer: Answer,
  nextCheckAt: Nullable(Timestamp),
  deadlineAt: Nullable(Timestamp),
  startedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
})

const Reverse = Type.Object({
  status: Type.Enum(['confirmed', 'unconfirmed', 'missing', 'unknown']),
  names: Type.Array(Type.String()),
  evidence: Type.Optional(
    Type.Object(
      {
        spf: Type.String({ description: 'Of the first name, for the address: a word of RFC 8601.' }),
        dmarc: Nullable(Type.String({ description: 'The policy that applies to the first name.' })),
      },
      { description: 'Stands in the letters as far as it speaks for the address.' },
    ),
  ),
})

export const DelistingProcess = Type.Object({
  id: Uuid,
  ip: Type.String(),
  status: Type.Enum([...PROCESS_STATUSES]),
  totalListings: Type.Integer(),
  stepsCompleted: Type.Integer(),
  stepsRunning: Type.Integer({ description: 'Steps with the status running.' }),
  steps: Type.Array(DelistingStep),
  cause: Nullable(Type.String()),
  fix: Nullable(Type.String()),
  reverseDns: Nullable(Reverse),
  listsAsked: Type.Integer({ description: 'Lists asked at the beginning.' }),
  listsUnknown: Type.Integer({ description: 'Those of them that gave no usable answer.' }),
  notPursued: Type.Array(Type.Object({ blacklistName: Type.String(), dnsbl: Type.String(), reason: Type.String() }), {
    description: 'Lists that have the address, but say nothing about one address.',
  }),
  relistedAfter: Nullable({ ...Uuid, description: 'The process that had cleared it within the last 30 days.' }),
  createdAt: Timestamp,
  completedAt: Nullable(Timestamp),
})

const Event = Type.Object({ stepId: Uuid, at: Timestamp, text: Type.String() })

/** One process with all that happened. */
export const ProcessWithHistory = Type.Object({ ...DelistingProcess.properties, events: Type.Array(Event) })

export const ProcessQuery = Type.Object({
  ip: Type.Optional(Type.String(Address)),
  status: Type.Optional(Type.Enum([...PROCESS_STATUSES])),
  ...PageQuery.properties,
})
export type ProcessQuery = Static<typeof ProcessQuery>

export const ProcessPage = Type.Object({
  processes: Type.Array(DelistingProcess),
  pagination: Pagination,
})

nameComponents({
  NewDelisting: NewProcess,
  StepConfirmation: Confirmation,
  DelistingStep,
  DelistingProcess,
  DelistingProcessWithHistory: ProcessWithHistory,
  DelistingEvent: Event,
})

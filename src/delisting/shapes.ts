import { Type, type Static } from 'typebox'
import {
  IpAddress,
  nameComponents,
  Nullable,
  PageQuery,
  Pagination,
  Timestamp,
  Uuid,
  OrderOf,
} from '../http/http-schema.ts'
import { LIST_CATEGORIES } from '../protocols/dnsbl/blocklist-catalogue.ts'
import { NEEDS, OUTCOMES, STEP_STATUSES } from './steps/state-machine.ts'
import { METHODS } from './steps/methods.ts'
import { PROCESS_ORDERS, PROCESS_STATUSES } from './delistings.sql.ts'

/**
 * Text without control characters, except line breaks and tabs: PostgreSQL does not store NUL, and
 * emails need no others.
 */
const Words = Type.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b-\\u000c\\u000e-\\u001f\\u007f]*$',
})

export const NewProcess = Type.Object(
  {
    ip: Type.String({ maxLength: 100, description: 'A public IP address.' }),
    cause: Type.Optional({
      ...Words,
      description: 'Cause of the listing, for the operators of the lists.',
    }),
    fix: Type.Optional({ ...Words, description: 'How and when the cause was fixed.' }),
  },
  {
    examples: [
      {
        ip: '8.8.4.4',
        cause: 'A mailbox with a guessed password sent spam.',
        fix: 'Password changed on 20 November.',
      },
    ],
  },
)

export const Explanation = Type.Object(
  {
    cause: Type.Optional(Words),
    fix: Type.Optional(Words),
  },
  {
    minProperties: 1,
    examples: [{ cause: 'An open relay.', fix: 'Closed on 20 November.' }],
  },
)

export const Confirmation = Type.Object(
  {
    cause: Type.Optional(Words),
    fix: Type.Optional(Words),
    text: Type.Optional({ ...Words, maxLength: 5_000, description: 'Replaces the prepared text.' }),
  },
  { examples: [{ cause: 'An open relay.', fix: 'Closed on 20 November.' }] },
)

const Answer = Type.Object({
  status: Type.Enum(['listed', 'clean', 'unknown']),
  at: Timestamp,
  codes: Type.Array(Type.String()),
  meanings: Type.Array(Type.String()),
  reason: Nullable(Type.String({ description: 'The TXT record of the list.' })),
  detail: Nullable(
    Type.String({ description: 'Why the status is unknown, or a note about the list.' }),
  ),
  health: Type.String(),
})

const Request = Type.Object(
  {
    to: Nullable(
      Type.String({ description: 'The email address of the list, where it accepts email.' }),
    ),
    subject: Type.String(),
    text: Type.String(),
    state: Type.Enum(['none', 'claimed', 'made', 'unsure']),
    at: Nullable(Timestamp),
    messageId: Nullable(Type.String()),
    reply: Nullable(Type.String({ description: 'The response of the mail relay.' })),
  },
  {
    description:
      'The removal request to the list, or for `provider` to the owner of the network, and its state. `unsure`: the relay did not confirm it; it is not sent again.',
  },
)

export const DelistingStep = Type.Object({
  id: Uuid,
  blacklistName: Type.String(),
  dnsbl: Type.String(),
  category: Type.Enum([...LIST_CATEGORIES]),
  method: Type.Enum([...METHODS]),
  status: Type.Enum([...STEP_STATUSES]),
  attempt: Type.Integer({ minimum: 1 }),
  outcome: Nullable(Type.Enum([...OUTCOMES])),
  needs: Nullable(
    Type.Enum([...NEEDS], { description: 'The action that the step needs from you.' }),
  ),
  nextStep: Type.String({ description: 'The next action and who takes it.' }),
  url: Nullable(Type.String({ description: 'The removal page of the list.' })),
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
        spf: Type.String({
          description: 'SPF result of the first name for the address, a keyword of RFC 8601.',
        }),
        dmarc: Nullable(
          Type.String({ description: 'The DMARC policy that applies to the first name.' }),
        ),
      },
      { description: 'Included in the request where it supports the address.' },
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
  listsAsked: Type.Integer({ description: 'Lists checked at the start.' }),
  listsUnknown: Type.Integer({ description: 'Lists without a usable answer at the start.' }),
  notPursued: Type.Array(
    Type.Object({ blacklistName: Type.String(), dnsbl: Type.String(), reason: Type.String() }),
    {
      description: 'Informational lists that have the address and get no step.',
    },
  ),
  relistedAfter: Nullable({
    ...Uuid,
    description: 'The delisting of this address that completed within the last 30 days.',
  }),
  createdAt: Timestamp,
  completedAt: Nullable(Timestamp),
})

const Event = Type.Object({ stepId: Uuid, at: Timestamp, text: Type.String() })

/** A process with its events. */
export const ProcessWithHistory = Type.Object({
  ...DelistingProcess.properties,
  events: Type.Array(Event),
})

export const ProcessQuery = Type.Object({
  ip: Type.Optional(Type.String(IpAddress)),
  status: Type.Optional(Type.Enum([...PROCESS_STATUSES])),
  sort: OrderOf(PROCESS_ORDERS),
  ...PageQuery.properties,
})
export type ProcessQuery = Static<typeof ProcessQuery>

export const ProcessPage = Type.Object({
  processes: Type.Array(DelistingProcess),
  pagination: Pagination,
})

nameComponents({
  NewDelisting: NewProcess,
  DelistingExplanation: Explanation,
  StepConfirmation: Confirmation,
  DelistingStep,
  DelistingProcess,
  DelistingProcessWithHistory: ProcessWithHistory,
  DelistingEvent: Event,
})

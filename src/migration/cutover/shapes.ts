import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { PLAIN } from '../shapes.ts'
import { PROOF_LEVELS } from '../proof/proof-document.ts'
import { CUTOVER_LIMITS, DEFAULT_QUIET_HOURS, DEFAULT_SYNC_MINUTES, DEFAULT_TTL } from './limits.ts'
import { OUTCOMES, STEPS } from './steps.ts'

const Host = Type.String({ minLength: 1, maxLength: 255 })
const Level = Type.Enum([...PROOF_LEVELS])

export const NewCutover = Type.Object(
  {
    domain: Host,
    mx: Type.Array(Host, {
      minItems: 1,
      maxItems: CUTOVER_LIMITS.maxMxHosts,
      description: 'The hosts of the new MX records, all of them.',
    }),
    ttl: Type.Optional(
      Type.Integer({
        minimum: CUTOVER_LIMITS.minTtl,
        maximum: CUTOVER_LIMITS.maxTtl,
        description: `The TTL to reach before the switch, in seconds. Default: ${DEFAULT_TTL}.`,
      }),
    ),
    quietHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: CUTOVER_LIMITS.maxQuietHours,
        description: `Hours without a new message at the old servers. Default: ${DEFAULT_QUIET_HOURS}, because senders try again for up to five days.`,
      }),
    ),
    proofLevel: Type.Optional(
      Type.Enum([...PROOF_LEVELS], { description: 'The level of the proof. Default: `headers`.' }),
    ),
  },
  {
    description: `A batch that is not synchronized yet is synchronized every ${DEFAULT_SYNC_MINUTES} minutes from then on.`,
    examples: [{ domain: 'example.com', mx: ['mx1.new.example', 'mx2.new.example'] }],
  },
)
export type NewCutover = Static<typeof NewCutover>

export const CutoverConfirmation = Type.Object(
  {
    outcome: Type.Optional(
      Type.Enum(['confirmed', 'skipped'], {
        description: '`confirmed` (default): it is done. `skipped`: it is left out.',
      }),
    ),
    note: Type.String({
      minLength: 1,
      maxLength: CUTOVER_LIMITS.maxNoteChars,
      pattern: PLAIN,
      description: 'Why. It is recorded with your name.',
    }),
  },
  { examples: [{ note: 'Checked with dig at our provider.' }] },
)
export type CutoverConfirmation = Static<typeof CutoverConfirmation>

export const CutoverStepName = Type.Enum([...STEPS])

const Count = Type.Integer()

const MxAnswer = Type.Object({
  server: Type.String(),
  hosts: Type.Array(Type.String()),
  ttl: Nullable(Count),
  isExpected: Type.Boolean({ description: 'Whether these are the new MX records and no others.' }),
  problem: Nullable(Type.String()),
})

const CutoverStep = Type.Object({
  step: CutoverStepName,
  state: Type.Enum(['waiting', 'open', 'done']),
  openedAt: Nullable(Timestamp),
  closedAt: Nullable(Timestamp),
  outcome: Nullable(Type.Enum([...OUTCOMES]), {
    description:
      '`seen`: Portreeve saw that it is done. `confirmed`, `skipped`: a person recorded it.',
  }),
  person: Nullable(Type.String(), { description: 'Who confirmed or skipped it.' }),
  note: Nullable(Type.String()),
})

/** A cut-over of a domain with its steps. */
export const Cutover = Type.Object({
  id: Uuid,
  domain: Type.String(),
  mx: Type.Array(Type.String()),
  ttl: Count,
  quietHours: Count,
  proofLevel: Level,
  status: Type.Enum(['open', 'done', 'cancelled']),
  step: Nullable(CutoverStepName, { description: 'The open step; null when it has ended.' }),
  needsAction: Type.Boolean({ description: 'Whether the open step waits for a person.' }),
  advice: Nullable(Type.String(), { description: 'What is still open, as a sentence.' }),
  steps: Type.Array(CutoverStep),
  dns: Type.Object({
    checkedAt: Nullable(Timestamp),
    zone: Nullable(Type.String()),
    servers: Type.Array(MxAnswer, { description: 'The zone’s own name servers, asked directly.' }),
    resolver: Nullable(MxAnswer),
    problem: Nullable(Type.String()),
    ttl: Nullable(Count, { description: 'The highest TTL of the name servers’ present answers.' }),
    ttlBefore: Nullable(Count, { description: 'The highest TTL that was seen before the switch.' }),
    ttlLowAt: Nullable(Timestamp, { description: 'Since when every name server has a low TTL.' }),
    ttlEverywhereAt: Nullable(Timestamp, { description: 'When every resolver has the low TTL.' }),
    switchedAt: Nullable(Timestamp, {
      description: 'Since when every name server has the new MX records.',
    }),
    switchedEverywhereAt: Nullable(Timestamp, {
      description: 'When every resolver has the new MX records.',
    }),
    revertedAt: Nullable(Timestamp, {
      description: 'Since when a name server has other MX records again.',
    }),
  }),
  quiet: Type.Object({
    since: Nullable(Timestamp, {
      description: 'The switch, or the last message that arrived at the old servers after it.',
    }),
    watchedUntil: Nullable(Timestamp, {
      description: 'The earliest time at which any of the mailboxes was last checked.',
    }),
    unwatched: Type.Integer({ description: 'Mailboxes whose last pass failed or is missing.' }),
    newMessages: Type.Integer({ description: 'Messages at the old servers since the switch.' }),
    withNewMessages: Type.Integer({ description: 'Mailboxes that received them.' }),
    lastArrivalAt: Nullable(Timestamp),
    mailboxes: Type.Array(
      Type.Object({
        id: Uuid,
        source: Type.String(),
        messages: Count,
        lastArrivalAt: Timestamp,
      }),
      { description: `Up to ${CUTOVER_LIMITS.maxShownMailboxes}, the latest first.` },
    ),
  }),
  finalPass: Type.Object({
    startedAt: Nullable(Timestamp),
    mailboxes: Count,
    done: Count,
    active: Count,
    failed: Count,
  }),
  proof: Type.Object({
    mailboxes: Count,
    done: Count,
    waiting: Count,
    failed: Count,
    incomplete: Count,
  }),
  createdAt: Timestamp,
  endedAt: Nullable(Timestamp),
})

export const FoundCutover = Nullable(Cutover, {
  description: 'Null before a cut-over was created.',
})

nameComponents({ NewCutover, CutoverConfirmation, CutoverStep, MxAnswer, Cutover })

import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { RenewedSecret } from '../secret-shapes.ts'
import { PROOF_FORMAT, PROOF_LEVELS, VERDICTS } from './proof-document.ts'
import { PROOF_LIMITS } from './limits.ts'

const Level = Type.Enum([...PROOF_LEVELS], {
  description:
    '`headers`: lists every message on both servers with Message-ID, size, date and flags. `full`: also reads every message on both servers whole and compares its bytes.',
})
const Verdict = Type.Enum([...VERDICTS], {
  description:
    '`identical`: the destination has every message, unchanged. `complete`: it has every message, some of them changed. `incomplete`: messages are missing.',
})
const Count = Type.Integer()

export const BatchProofRequest = Type.Object(
  { level: Type.Optional(Level) },
  { description: 'Default level: `headers`.', examples: [{ level: 'full' }] },
)
export const ProofRequest = Type.Object(
  {
    level: Type.Optional(Level),
    source: Type.Optional(RenewedSecret),
    destination: Type.Optional(RenewedSecret),
  },
  {
    description:
      'Default level: `headers`. The passwords are required again when they were deleted: at the end of a migration that is not synchronized.',
    examples: [
      { level: 'full', source: { password: 'secret' }, destination: { password: 'secret' } },
    ],
  },
)
export type ProofRequest = Static<typeof ProofRequest>

const MessageSum = Type.Object({
  messages: Count,
  bytes: Count,
  digest: Type.String({ description: 'SHA-256 over all messages, whatever their order.' }),
})
const ProofTotals = Type.Object({
  source: MessageSum,
  kept: MessageSum,
  additional: MessageSum,
  elsewhere: Count,
  missing: Count,
})
const ProofReason = Type.Object({ reason: Type.String(), messages: Count })
const Reasons = Type.Array(ProofReason)

const ProofAccount = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  user: Type.String(),
  signIn: Type.String({ description: '`password`, `administrator`, `oauth` or `access token`.' }),
})

const ProofFolder = Type.Object({
  destination: Nullable(Type.String(), { description: 'Null for a folder that was never copied.' }),
  destinationUidValidity: Nullable(Count),
  sources: Type.Array(
    Type.Object({
      folder: Type.String(),
      uidValidity: Nullable(Count),
      uidNext: Nullable(Count),
    }),
  ),
  source: MessageSum,
  kept: MessageSum,
  additional: MessageSum,
  elsewhere: Type.Integer({ description: 'Found in another folder of the destination.' }),
  unreadable: Type.Integer({ description: 'Listed but not returned by the source.' }),
  missing: Count,
})

const Common = { format: Type.Literal(PROOF_FORMAT), madeBy: Type.String() }

const MailboxProof = Type.Object({
  ...Common,
  kind: Type.Literal('mailbox'),
  migration: Type.Object({
    id: Uuid,
    batch: Nullable(Uuid),
    createdAt: Timestamp,
    lastPassAt: Nullable(Timestamp),
    passes: Count,
  }),
  source: ProofAccount,
  destination: ProofAccount,
  level: Level,
  readFrom: Timestamp,
  readUntil: Timestamp,
  folders: Type.Array(ProofFolder),
  leftOut: Type.Array(Type.Object({ folder: Type.String(), messages: Nullable(Count) }), {
    description: 'Folders of the source that were not selected.',
  }),
  changes: Type.Array(ProofReason, { description: 'How kept messages differ from the source’s.' }),
  missing: Type.Array(ProofReason, { description: 'Why messages are not at the destination.' }),
  additional: Type.Array(ProofReason, { description: 'Why only the destination has messages.' }),
  missingMessages: Type.Array(
    Type.Object({
      folder: Type.String(),
      uid: Count,
      size: Nullable(Count),
      reason: Type.String(),
      detail: Nullable(Type.String()),
    }),
    { description: `Up to ${PROOF_LIMITS.maxNamedMessages.toLocaleString('en-US')}.` },
  ),
  notes: Type.Array(Type.Object({ folder: Type.String(), message: Type.String() })),
  totals: ProofTotals,
  verdict: Verdict,
})

const ProvenMailbox = Type.Object({
  source: Type.String(),
  destination: Type.String(),
  migration: Nullable(Uuid),
  problem: Nullable(Type.String(), { description: 'Why there is no proof of this mailbox.' }),
  level: Nullable(Level),
  readUntil: Nullable(Timestamp),
  verdict: Verdict,
  totals: Nullable(ProofTotals),
  changes: Reasons,
  missing: Reasons,
  additional: Reasons,
  document: Nullable(Type.String(), {
    description: 'SHA-256 of the signed document of the mailbox’s own proof.',
  }),
})

const BatchProof = Type.Object({
  ...Common,
  kind: Type.Literal('batch'),
  batch: Type.Object({ id: Uuid, name: Type.String(), createdAt: Timestamp }),
  readUntil: Nullable(Timestamp),
  mailboxes: Type.Array(ProvenMailbox),
  totals: ProofTotals,
  verdict: Verdict,
})

export const ProofKey = Type.Object({
  algorithm: Type.Literal('Ed25519'),
  publicKey: Type.String({ description: '32 bytes, in base64.' }),
  fingerprint: Type.String({ description: 'SHA-256 of the public key, as `SHA256:…`.' }),
})

/** The state of the proof of a migration, and the last proof that was made. */
export const MigrationProof = Type.Object({
  state: Type.Enum(['none', 'waiting', 'running', 'done', 'failed']),
  level: Nullable(Level),
  requestedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
  messagesRead: Count,
  messagesTotal: Nullable(Count),
  error: Nullable(Type.String()),
  needsPasswords: Type.Boolean({
    description: 'Whether a request has to contain the passwords of both sides.',
  }),
  isEmpty: Type.Boolean({
    description: 'The proof says nothing, because the source has no messages.',
  }),
  key: ProofKey,
  proof: Nullable(MailboxProof),
})

/** The proofs of a batch. */
export const MigrationBatchProof = Type.Object({
  mailboxes: Count,
  requested: Type.Integer({ description: 'Mailboxes of which a proof was requested.' }),
  waiting: Type.Integer({ description: 'Proofs that are being made.' }),
  done: Count,
  failed: Count,
  incomplete: Type.Integer({ description: 'Proofs with missing messages.' }),
  empty: Type.Integer({
    description: 'Proofs that say nothing, because the source has no messages.',
  }),
  requestedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
  key: ProofKey,
  proof: Nullable(BatchProof, { description: 'Null before a proof was requested.' }),
})

nameComponents({
  ProofRequest,
  BatchProofRequest,
  MessageSum,
  ProofTotals,
  ProofReason,
  ProofAccount,
  ProofFolder,
  MailboxProof,
  ProvenMailbox,
  BatchProof,
  ProofKey,
  MigrationProof,
  MigrationBatchProof,
})

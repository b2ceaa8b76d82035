import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp } from '../../http/http-schema.ts'
import { RenewedSecret } from '../secret-shapes.ts'
import { SYNC_LIMITS } from './limits.ts'

const { minMinutes, maxMinutes, days } = SYNC_LIMITS

const SyncFields = {
  everyMinutes: Type.Integer({
    minimum: minMinutes,
    maximum: maxMinutes,
    description: 'Minutes between two passes.',
  }),
  deletions: Type.Optional(
    Type.Enum(['record', 'apply'], {
      description:
        'What happens when a copied message is deleted at the source: it is recorded (default), or its copy is deleted as well. Only copies of this migration are deleted.',
    }),
  ),
}

const EXAMPLE = { everyMinutes: 30, deletions: 'record' }

/** How often mailboxes are synchronized. */
export const SyncRequest = Type.Object(SyncFields, { examples: [EXAMPLE] })
export type SyncRequest = Static<typeof SyncRequest>

export const MigrationSyncRequest = Type.Object(
  {
    ...SyncFields,
    source: Type.Optional(RenewedSecret),
    destination: Type.Optional(RenewedSecret),
  },
  {
    description:
      'The passwords are required again when the migration has ended, because they were deleted.',
    examples: [{ ...EXAMPLE, source: { password: 'secret' }, destination: { password: 'secret' } }],
  },
)
export type MigrationSyncRequest = Static<typeof MigrationSyncRequest>

const SyncChanges = Type.Object(
  {
    copied: Type.Integer({ description: 'New messages.' }),
    flags: Type.Integer({ description: 'Copies whose flags were changed.' }),
    moved: Type.Integer({ description: 'Copies that were moved to another folder.' }),
    deleted: Type.Integer({ description: 'Copied messages that were deleted at the source.' }),
    applied: Type.Integer({ description: 'Copies that were deleted for that reason.' }),
  },
  { description: 'What a pass changed.' },
)

/** The standing synchronization of a migration. */
export const MigrationSync = Type.Object({
  everyMinutes: Type.Integer(),
  deletions: Type.Enum(['record', 'apply']),
  heldDeletions: Type.Integer({
    description:
      'Deletions that wait for a confirmation: a folder lost more than half of its messages in one pass.',
  }),
  nextPassAt: Nullable(Timestamp, {
    description: 'Null while a pass waits or runs, or after a rejected sign-in: retry then.',
  }),
  endsAt: Type.String({
    format: 'date-time',
    description: `It ends then, ${days} days after it was last set, and the passwords are deleted.`,
  }),
  passes: Type.Integer(),
  lastPass: Nullable(
    Type.Object({
      startedAt: Timestamp,
      endedAt: Timestamp,
      changes: Nullable(SyncChanges),
      error: Nullable(Type.String()),
    }),
  ),
})

/** Passes of a migration that changed something or failed. */
export const SyncPasses = Type.Object({
  passes: Type.Array(
    Type.Object({
      startedAt: Timestamp,
      endedAt: Timestamp,
      changes: Nullable(SyncChanges),
      error: Nullable(Type.String()),
    }),
    { description: `The last ${SYNC_LIMITS.passesKept}, newest first.` },
  ),
  deletions: Type.Object({
    recorded: Type.Integer({
      description: 'Messages deleted at the source whose copies are still at the destination.',
    }),
    applied: Type.Integer({ description: 'Copies that were deleted.' }),
  }),
})

/** The standing synchronization of a batch. */
export const BatchSync = Type.Object({
  everyMinutes: Type.Integer(),
  deletions: Type.Enum(['record', 'apply']),
  endsAt: Timestamp,
  synchronized: Type.Integer({ description: 'Mailboxes with a first pass.' }),
  lastPassAt: Nullable(Timestamp),
  nextPassAt: Nullable(Timestamp),
  failing: Type.Integer({ description: 'Mailboxes whose last pass failed.' }),
  recordedDeletions: Type.Integer({
    description: 'Messages deleted at the source whose copies are still at the destination.',
  }),
})

nameComponents({
  SyncRequest,
  MigrationSyncRequest,
  SyncChanges,
  MigrationSync,
  SyncPasses,
  BatchSync,
})

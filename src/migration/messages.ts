import type { NewAlert, ResolvingAlert } from '../alerts/raise.ts'
import type { CopyFailure } from './engine/journal/journal.ts'
import type { MigrationProgress } from './engine/progress/progress.ts'
import type { HeldFolder } from './engine/sync/pass.ts'
import type { MigrationRow, AccountAddress } from './migrations.sql.ts'

/**
 * Composes the alert about a failed migration.
 * @param failure the error that ended it before it started; null where some messages or folders
 *   could not be copied
 */
export function failureAlert(
  row: MigrationRow,
  progress: MigrationProgress,
  failure: CopyFailure | null,
): NewAlert {
  const { id, run, workspaceId, source, destination, options } = row
  const what = options.dryRun ? 'dry run of the migration' : 'migration'
  return {
    workspaceId,
    kind: 'migration.failed',
    // A retry that fails again raises an alert of its own.
    key: `migration.failed ${id} ${run}`,
    incident: incidentOf(row),
    phase: 'open',
    severity: 'error',
    title: `The ${what} to ${nameOf(destination)} failed`,
    text: `From ${nameOf(source)}: ${failure?.message ?? whatIsLeft(progress)}`,
    nextStep: 'See the errors, fix their causes, and retry. Copied messages are not copied again.',
    path: `/migrations/${id}`,
    objects: [source.user, destination.user],
    at: new Date(),
  }
}

/**
 * Composes the alert about a migration that waits until a person signs in again.
 * @param reason why the permission has ended
 */
export function consentAlert(row: MigrationRow, reason: string): NewAlert {
  return {
    ...failureAlert(row, row.progress, null),
    title: `The migration to ${nameOf(row.destination)} needs a new sign-in`,
    text: `From ${nameOf(row.source)}: ${reason}`,
    nextStep: 'Sign in at the provider on the page of the migration. It then continues by itself.',
  }
}

/** Composes the alert about a migration that completed when it was retried. */
export function completionAlert(row: MigrationRow): ResolvingAlert {
  const { id, run, workspaceId, source, destination } = row
  return {
    workspaceId,
    kind: 'migration.completed',
    key: `migration.completed ${id} ${run}`,
    incident: incidentOf(row),
    title: `Resolved: the migration to ${nameOf(destination)} completed`,
    text: `From ${nameOf(source)}: everything that failed before has been copied.`,
    nextStep: '',
    path: `/migrations/${id}`,
    objects: [source.user, destination.user],
    at: new Date(),
  }
}

/** Composes the alert about deletions that a person must confirm. */
export function heldAlert(row: MigrationRow, held: readonly HeldFolder[]): NewAlert {
  const { id, run, workspaceId, source, destination } = row
  const count = held.reduce((sum, { messages }) => sum + messages, 0)
  const lines = held
    .slice(0, 3)
    .map(({ folder, messages }) => `${folder}: ${messages.toLocaleString('en-US')} messages`)
  return {
    workspaceId,
    kind: 'migration.failed',
    key: `migration.held ${id} ${run}`,
    incident: heldIncidentOf(row),
    phase: 'open',
    severity: 'warning',
    title: `${count.toLocaleString('en-US')} deletions at ${nameOf(destination)} need your confirmation`,
    text: `Folders of ${nameOf(source)} lost more than half of their messages at once:\n${lines.join('\n')}`,
    nextStep:
      'Check the source. If the messages were deleted there, confirm on the page of the migration. Their copies are kept until then.',
    path: `/migrations/${id}`,
    objects: [source.user, destination.user],
    at: new Date(),
  }
}

/** Composes the alert about deletions that were confirmed, or whose messages came back. */
export function confirmedAlert(row: MigrationRow): ResolvingAlert {
  const { id, run, workspaceId, source, destination } = row
  const at = new Date()
  return {
    workspaceId,
    kind: 'migration.completed',
    key: `migration.confirmed ${id} ${run} ${at.getTime()}`,
    incident: heldIncidentOf(row),
    title: `Resolved: no deletions at ${nameOf(destination)} wait for a confirmation`,
    text: `From ${nameOf(source)}: they were confirmed, or the messages are back.`,
    nextStep: '',
    path: `/migrations/${id}`,
    objects: [source.user, destination.user],
    at,
  }
}

const heldIncidentOf = ({ id }: MigrationRow) => `migration-deletions/${id}`

function incidentOf({ id }: MigrationRow): string {
  return `migration/${id}`
}

function nameOf({ user, host }: AccountAddress): string {
  return `${user} on ${host}`
}

function whatIsLeft({ messagesDone, messagesTotal, errorCount }: MigrationProgress): string {
  const number = (count: number) => count.toLocaleString('en-US')
  return `${number(messagesDone)} of ${number(messagesTotal)} messages processed, with ${number(errorCount)} ${errorCount === 1 ? 'error' : 'errors'}.`
}

import type { NewAlert } from '../../../alerts/raise.ts'
import type { OwnerAccess } from './withdrawal.sql.ts'

/** The code of an error after which the owner of a mailbox must sign in again. */
export const WITHDRAWN = 'sign_in_withdrawn'

/** Says why a mailbox waits. */
export function describeWithdrawal({ side, ...sides }: OwnerAccess): string {
  const { user, host } = sides[side]
  return `The owner of ${user} on ${host} has withdrawn the sign-in. Create another link if they agree to continue.`
}

/** Composes the alert about a mailbox whose owner has withdrawn the sign-in. */
export function withdrawalAlert(access: OwnerAccess): NewAlert {
  const { id, workspaceId, batchId, migrationId, side } = access
  const common = {
    workspaceId,
    kind: 'migration.failed',
    severity: 'warning' as const,
    title: `${access[side].user} has withdrawn the sign-in to the mailbox`,
    text: describeWithdrawal(access),
    nextStep: 'Ask the owner. Another link continues the migration; copied messages stay.',
    objects: [access.source.user, access.destination.user],
    at: new Date(),
  }
  if (batchId !== null)
    return {
      ...common,
      key: `owner-link.withdrawn ${id}`,
      incident: null,
      phase: 'once',
      path: `/migrations/batches/${batchId}`,
    }
  return {
    ...common,
    key: `owner-link.withdrawn ${id}`,
    // The migration resolves it when it completes.
    incident: `migration/${migrationId}`,
    phase: 'open',
    path: `/migrations/${migrationId}`,
  }
}

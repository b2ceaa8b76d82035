import type { Transaction } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import { takeNewErrors } from '../sync/syncs.sql.ts'
import { listHeldHosts } from './batch-hosts.sql.ts'
import { findBatch, listProblems, NO_TOTALS, readTotals } from './batches.sql.ts'

/**
 * Raises one alert for a batch when none of its mailboxes waits or runs any more: mailboxes of a
 * batch raise no alerts of their own. Later passes of a synchronization alert only to failures that
 * are new.
 */
export async function raiseBatchAlert(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  { isLaterPass }: { isLaterPass: boolean },
): Promise<void> {
  const { counts } = (await readTotals(trx, [id])).get(id) ?? NO_TOTALS
  // Mailboxes of a host that rejected sign-ins wait for a person.
  const held = (await listHeldHosts(trx, id)).reduce((sum, { mailboxes: n }) => sum + n, 0)
  if (counts.syncing + counts.queued > held) return
  const batch = await findBatch(trx, workspaceId, id)
  if (!batch) return
  const hasNewErrors = await takeNewErrors(trx, id)
  const isCompleted = counts.needs_attention + held === 0
  const kind = isCompleted ? 'migration.completed' : 'migration.failed'
  const at = new Date()
  const about = {
    workspaceId,
    kind,
    key: `${kind} ${id} ${at.getTime()}`,
    incident: `migration-batch/${id}`,
    path: `/migrations/batches/${id}`,
    objects: [batch.name],
    at,
  }
  if (isCompleted) {
    const title = `Resolved: all mailboxes of ${batch.name} are copied`
    const text = `${mailboxes(counts.in_sync)} in sync.`
    await raiseResolved(trx, { ...about, title, text, nextStep: '' })
    return
  }
  if (isLaterPass && !hasNewErrors) return
  const problems = (await listProblems(trx, id)).filter(({ code }) => code !== 'invalid')
  const causes = problems.slice(0, 3).map(({ count, message }) => `${mailboxes(count)}: ${message}`)
  await raiseAlert(trx, {
    ...about,
    phase: 'open',
    severity: 'error',
    title: `${mailboxes(counts.needs_attention)} of the batch ${batch.name} ${counts.needs_attention === 1 ? 'needs' : 'need'} attention`,
    text: causes.join('\n'),
    nextStep: 'Fix the causes, and retry. Copied messages are not copied again.',
  })
}

function mailboxes(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'mailbox' : 'mailboxes'}`
}

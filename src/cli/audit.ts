import type { Kysely } from 'kysely'
import { insertAuditEntries } from '../accounts/audit/audit-log.sql.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'

/** Records a command in the audit log, which cannot name its actor. */
export async function recordCommand(
  db: Kysely<DB>,
  { what, route, details }: { what: string; route: string; details: Record<string, string> },
): Promise<void> {
  const actor = { workspaceId: null, actorId: null, actorEmail: 'command line', token: null }
  await insertAuditEntries(db, [{ ...actor, what, route, details }])
  await notifyChange(db, ADMINISTRATORS, 'administration')
}

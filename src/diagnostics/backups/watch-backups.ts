import type { Kysely } from 'kysely'
import { listAdministratorWorkspaces } from '../../accounts/workspaces/workspaces.sql.ts'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import type { Logger } from '../../log.ts'
import { readStatus, type ArchiveStatus } from '../../store/archive/archive-status.ts'
import type { DB } from '../../store/tables.ts'
import { MINUTE_MS } from '../../time.ts'

/** A restart of the store is no reason for an alert. */
const ALERT_AFTER_MS = 10 * MINUTE_MS

const INCIDENT = 'backup'

type Deps = { db: Kysely<DB>; dataDir: string; log: Logger }

/** Alerts administrators while backups fail, and when they work again. @returns stops it */
export function watchBackups({ db, dataDir, log }: Deps): () => Promise<void> {
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = running
      .then(() => reportBackups(db, readStatus(dataDir), new Date()))
      .catch((err: unknown) => log.warn({ err }, 'the state of the backups was not checked'))
  }, MINUTE_MS).unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** Raises or resolves the alert for one state. */
export async function reportBackups(
  db: Kysely<DB>,
  status: ArchiveStatus | null,
  now: Date,
): Promise<void> {
  if (!status) return
  const { failingSince: since, archive, problem } = status
  const isFailing = since !== null && now.getTime() - new Date(since).getTime() >= ALERT_AFTER_MS
  for (const workspaceId of await listAdministratorWorkspaces(db)) {
    const shared = {
      workspaceId,
      incident: INCIDENT,
      path: '/administration',
      at: now,
    }
    if (isFailing)
      await raiseAlert(db, {
        ...shared,
        kind: 'backup.failing',
        key: `backup.failing ${since}`,
        phase: 'open',
        severity: 'critical',
        title: 'The database is not backed up',
        text: `Since ${since}, ${archive} cannot be written: ${problem}. WAL is kept on the disk of the service meanwhile.`,
        nextStep: 'Make the archive available. Backups then continue without a gap.',
      })
    else if (since === null)
      await raiseResolved(db, {
        ...shared,
        kind: 'backup.working',
        key: `backup.working ${now.toISOString()}`,
        title: 'The database is backed up again',
        text: `${archive} can be written again.`,
        nextStep: '',
      })
  }
}

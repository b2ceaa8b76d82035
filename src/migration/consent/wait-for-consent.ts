import type { Kysely } from 'kysely'
import { raiseAlert } from '../../alerts/raise.ts'
import { PutBack } from '../../jobs/job.ts'
import { lockClientProblem } from '../../mail-credentials/clients/oauth-clients.sql.ts'
import { ClientRejected, ConsentNeeded } from '../../mail-credentials/access-token.ts'
import { lockRejected } from '../../mail-credentials/mail-credentials.sql.ts'
import type { DB } from '../../store/tables.ts'
import type { MigrationAccount } from '../engine/connections/fresh-sign-in.ts'
import type { MigrationOutcome } from '../engine/outcome.ts'
import { Stop } from '../engine/stop.ts'
import { consentAlert } from '../messages.ts'
import { markPaused } from '../run/migration-runs.sql.ts'
import { credentialsOf, type MigrationRow } from '../migrations.sql.ts'

/** The code of an error after which a person must sign in at the provider again. */
const CONSENT_NEEDED = 'consent_needed'

/** The code of an error after which an administrator of this service must correct its client. */
const CLIENT_REJECTED = 'client_rejected'

/** Stops the migration with a code of its own when a permission has ended. */
export function stoppingWithoutConsent({
  account,
  freshToken,
}: MigrationAccount): MigrationAccount {
  if (!freshToken) return { account }
  return {
    account,
    freshToken: (rejected) =>
      freshToken(rejected).catch((error: unknown) => {
        if (error instanceof ConsentNeeded) throw new Stop(CONSENT_NEEDED, error.message, error)
        if (error instanceof ClientRejected) throw new Stop(CLIENT_REJECTED, error.message, error)
        throw error
      }),
  }
}

type Stopped = NonNullable<MigrationOutcome['stopped']>

/** A dry run fails instead, because a person waits for it; a batch continues with the others. */
export function mustWaitForConsent({ batchId, options }: MigrationRow, { code }: Stopped): boolean {
  const waits = code === CONSENT_NEEDED || code === CLIENT_REJECTED
  return waits && batchId === null && !options.dryRun
}

/**
 * Pauses a migration until a person signs in at the provider again, and raises an alert.
 * @throws PutBack when they have done so meanwhile
 */
export async function waitForConsent(
  db: Kysely<DB>,
  row: MigrationRow,
  { message }: Stopped,
  written: Parameters<typeof markPaused>[2],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // Under a lock: a sign-in that is completed later finds the migration paused.
    const rejected = await lockRejected(trx, row.workspaceId, credentialsOf(row))
    const isClientRejected = await lockClientProblem(trx, credentialsOf(row))
    if (rejected.length === 0 && !isClientRejected) throw new PutBack('a new sign-in was completed')
    // An administrator’s sign-in, or the client, has raised one alert for all mailboxes.
    if ((await markPaused(trx, row, written)) && rejected.includes('person'))
      await raiseAlert(trx, consentAlert(row, message))
  })
}

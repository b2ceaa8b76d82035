import type { Transaction } from 'kysely'
import { raiseAlert } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import { countChanges, insertEvents } from '../history/host-history.sql.ts'
import { FREQUENT_CHANGES, FREQUENT_CHANGES_WINDOW_MS } from '../limits.ts'
import type { RecordUpdates } from './evaluate-records.ts'
import { recordsAlert, type RecordChange } from './messages.ts'

/**
 * Inserts all changes into the history, and raises one alert for those of records that do not
 * change all the time.
 */
export async function reportRecordChanges(
  trx: Transaction<DB>,
  host: ClaimedHost,
  { changes }: RecordUpdates,
  at: Date,
): Promise<void> {
  const toAlert: RecordChange[] = []
  for (const change of changes) {
    const since = new Date(at.getTime() - FREQUENT_CHANGES_WINDOW_MS)
    const before = await countChanges(trx, host.id, change.subject, since)
    if (before < FREQUENT_CHANGES)
      toAlert.push({ ...change, isFrequent: before === FREQUENT_CHANGES - 1 })
  }
  await insertEvents(
    trx,
    host.id,
    changes.map(({ subject, from, to }) => ({
      at,
      kind: 'dns',
      name: subject,
      dnsbl: null,
      ip: null,
      codes: [],
      fromState: from,
      toState: to,
      reason: null,
      baseline: false,
    })),
  )
  if (toAlert.length > 0) await raiseAlert(trx, recordsAlert(host, toAlert, at))
}

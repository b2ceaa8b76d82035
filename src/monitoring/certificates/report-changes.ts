import type { Transaction } from 'kysely'
import { raiseAlert } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import type { ClaimedHost } from '../checks/store.ts'
import { insertEvents } from '../history/store.ts'
import type { CertificateUpdates } from './evaluate.ts'
import { certificateAlert, describeCertificate } from './messages.ts'

/**
 * Inserts all changes into the history, and raises an alert for each that is not of the first
 * check.
 */
export async function reportCertificateChanges(
  trx: Transaction<DB>,
  host: ClaimedHost,
  { changes }: CertificateUpdates,
  at: Date,
): Promise<void> {
  await insertEvents(
    trx,
    host.id,
    changes.map(({ port, from, to, fact, baseline }) => ({
      at,
      kind: 'certificate',
      name: `Certificate on port ${port}`,
      dnsbl: null,
      ip: null,
      codes: [],
      fromState: from,
      toState: to,
      reason: describeCertificate(fact.detail),
      baseline,
    })),
  )
  for (const change of changes) {
    if (!change.baseline) await raiseAlert(trx, certificateAlert(host, change, at))
  }
}

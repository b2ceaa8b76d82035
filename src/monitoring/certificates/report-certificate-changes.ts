import type { Transaction } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import { insertEvents } from '../history/host-history.sql.ts'
import type { CertificateUpdates } from './evaluate-certificates.ts'
import { certificateAlert, describeCertificate, renewalDueAlert, renewedAlert } from './messages.ts'

/**
 * Inserts all changes into the history, and raises an alert for each that is not of the first
 * check.
 */
export async function reportCertificateChanges(
  trx: Transaction<DB>,
  host: ClaimedHost,
  { changes, renewals }: CertificateUpdates,
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
  for (const renewal of renewals) {
    // Every check of a certificate that is due gets here: its alert is raised once.
    if (renewal.event === 'due') await raiseAlert(trx, renewalDueAlert(host, renewal, at))
    else await raiseResolved(trx, renewedAlert(host, renewal, at))
  }
}

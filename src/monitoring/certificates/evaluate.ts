import type { ClaimedHost } from '../checks/store.ts'
import {
  applyObservation,
  initialFact,
  isSameFact,
  type Fact,
  type Observation,
} from '../facts/observation.ts'
import type { FactRow } from '../facts/store.ts'
import { dependsOnTimeAlone, type CertificateDetail, type CertificateState } from './check.ts'
import type { CertificateChange } from './messages.ts'

export type CertificateUpdates = {
  save: FactRow[]
  remove: FactRow[]
  changes: (CertificateChange & { baseline: boolean })[]
}

/** Compares observed certificates, by port, with the stored facts. */
export function evaluateCertificates(
  host: ClaimedHost,
  observations: Map<number, Observation<CertificateDetail>>,
  now: Date,
  confirmMs: number,
): CertificateUpdates {
  const known = host.facts.filter(({ kind }) => kind === 'certificate')
  const remove = known.filter(({ subject }) => !host.tlsPorts.includes(Number(subject)))
  const updates: CertificateUpdates = { save: [], remove, changes: [] }
  for (const [port, observed] of observations) {
    if (observed === null) continue
    const key = { hostId: host.id, kind: 'certificate' as const, subject: String(port) }
    const before = known.find(({ subject }) => subject === key.subject) as
      Fact<CertificateDetail> | undefined
    const after = before
      ? applyObservation(before, observed, now, dependsOnTimeAlone(observed.state) ? 0 : confirmMs)
      : { fact: initialFact(observed, now), change: { from: 'unknown', to: observed.state } }
    if (after.change) {
      const change = {
        port,
        ...(after.change as { from: CertificateState; to: CertificateState }),
        fact: after.fact,
      }
      updates.changes.push({ ...change, baseline: before === undefined })
    }
    if (!before || !isSameFact(before, after.fact)) updates.save.push({ ...key, ...after.fact })
  }
  return updates
}

import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import {
  applyObservation,
  initialFact,
  isSameFact,
  type Fact,
  type Observation,
} from '../facts/observation.ts'
import type { FactRow } from '../facts/host-facts.sql.ts'
import {
  dependsOnTimeAlone,
  type CertificateDetail,
  type CertificateState,
} from './check-certificates.ts'
import type { CertificateChange } from './messages.ts'
import { isRenewalDue, withRenewal } from './renewal.ts'

export type CertificateUpdates = {
  save: FactRow[]
  remove: FactRow[]
  changes: (CertificateChange & { baseline: boolean })[]
  /** Valid certificates whose renewal is due, and those that were renewed while still valid. */
  renewals: CertificateRenewal[]
}

type CertificateRenewal = {
  port: number
  event: 'due' | 'renewed'
  detail: CertificateDetail
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
  const updates: CertificateUpdates = { save: [], remove, changes: [], renewals: [] }
  for (const [port, answer] of observations) {
    if (answer === null) continue
    const key = { hostId: host.id, kind: 'certificate' as const, subject: String(port) }
    const before = known.find(({ subject }) => subject === key.subject) as
      | Fact<CertificateDetail>
      | undefined
    const observed = { ...answer, detail: withRenewal(before?.detail, answer.detail, now) }
    const after = before
      ? applyObservation(before, observed, now, isCertain(before, observed) ? 0 : confirmMs)
      : { fact: initialFact(observed, now), change: { from: 'unknown', to: observed.state } }
    if (after.change) {
      const change = {
        port,
        ...(after.change as { from: CertificateState; to: CertificateState }),
        fact: after.fact,
      }
      updates.changes.push({ ...change, baseline: before === undefined })
    }
    const event = before && renewalEvent(before, after.fact, now)
    if (event) updates.renewals.push({ port, event, detail: after.fact.detail })
    if (!before || !isSameFact(before, after.fact)) updates.save.push({ ...key, ...after.fact })
  }
  return updates
}

/**
 * Whether one observation is enough: time alone has changed the state. Another certificate may be
 * that of one node of many, on which the new one is still missing.
 */
function isCertain(
  before: Fact<CertificateDetail>,
  { state, detail }: NonNullable<Observation<CertificateDetail>>,
): boolean {
  return dependsOnTimeAlone(state) && detail.fingerprint256 === before.detail.fingerprint256
}

/** A certificate that was renewed after a problem is a change of its state. */
function renewalEvent(
  before: Fact<CertificateDetail>,
  after: Fact<CertificateDetail>,
  now: Date,
): CertificateRenewal['event'] | null {
  if (after.state !== 'valid') return null
  if (isRenewalDue(after.detail, now)) return 'due'
  const isSame = before.detail.fingerprint256 === after.detail.fingerprint256
  return before.state === 'valid' && !isSame ? 'renewed' : null
}

import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import {
  applyObservation,
  initialFact,
  isSameFact,
  type Fact,
  type Observation,
} from '../facts/observation.ts'
import type { FactRow } from '../facts/host-facts.sql.ts'
import type { RecordDetail } from './check-records.ts'
import type { RecordChange } from './messages.ts'

export type RecordUpdates = {
  save: FactRow[]
  remove: FactRow[]
  changes: Omit<RecordChange, 'isFrequent'>[]
}

/**
 * Compares observed records with the stored facts. The first observation is no change and no
 * history entry.
 */
export function evaluateRecords(
  host: ClaimedHost,
  observations: Map<string, Observation<RecordDetail>>,
  now: Date,
  confirmMs: number,
): RecordUpdates {
  const known = host.facts.filter(({ kind }) => kind === 'dns')
  const updates: RecordUpdates = { save: [], remove: host.dnsRecords ? [] : known, changes: [] }
  for (const [subject, observed] of observations) {
    if (observed === null) continue
    const key = { hostId: host.id, kind: 'dns' as const, subject }
    const before = known.find((fact) => fact.subject === subject) as Fact<RecordDetail> | undefined
    const { fact, change } = before
      ? applyObservation(before, observed, now, confirmMs)
      : { fact: initialFact(observed, now), change: null }
    if (change) updates.changes.push({ subject, ...change, since: fact.since })
    if (!before || !isSameFact(before, fact)) updates.save.push({ ...key, ...fact })
  }
  return updates
}

import { firstFact, isSameFact, judge, type Fact, type Seen } from '../facts/judge.ts'
import type { FactRow } from '../facts/store.ts'
import type { ClaimedHost } from '../looks/store.ts'
import type { RecordDetail } from './look.ts'
import type { RecordChange } from './words.ts'

export type SettledRecords = { save: FactRow[]; forget: FactRow[]; changes: Omit<RecordChange, 'restless'>[] }

/** What follows from what the DNS said. What it says first is how it is: no change, and no line in the history. */
export function settleRecords(
  host: ClaimedHost,
  look: Map<string, Seen<RecordDetail>>,
  now: Date,
  confirm: number,
): SettledRecords {
  const known = host.facts.filter(({ kind }) => kind === 'dns')
  const settled: SettledRecords = { save: [], forget: host.dnsRecords ? [] : known, changes: [] }
  for (const [subject, seen] of look) {
    if (seen === null) continue
    const key = { hostId: host.id, kind: 'dns' as const, subject }
    const before = known.find((fact) => fact.subject === subject) as Fact<RecordDetail> | undefined
    const { fact, change } = before ? judge(before, seen, now, confirm) : { fact: firstFact(seen, now), change: null }
    if (change) settled.changes.push({ subject, ...change, since: fact.since })
    if (!before || !isSameFact(before, fact)) settled.save.push({ ...key, ...fact })
  }
  return settled
}

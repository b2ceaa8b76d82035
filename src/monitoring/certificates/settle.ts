import { firstFact, isSameFact, judge, type Fact, type Seen } from '../facts/judge.ts'
import type { FactRow } from '../facts/store.ts'
import type { ClaimedHost } from '../looks/store.ts'
import { isByTime, type CertificateDetail, type CertificateState } from './look.ts'
import type { CertificateChange } from './words.ts'

export type SettledCertificates = {
  save: FactRow[]
  forget: FactRow[]
  changes: (CertificateChange & { baseline: boolean })[]
}

/** What follows from what the ports showed. */
export function settleCertificates(
  host: ClaimedHost,
  look: Map<number, Seen<CertificateDetail>>,
  now: Date,
  confirm: number,
): SettledCertificates {
  const known = host.facts.filter(({ kind }) => kind === 'certificate')
  const forget = known.filter(({ subject }) => !host.tlsPorts.includes(Number(subject)))
  const settled: SettledCertificates = { save: [], forget, changes: [] }
  for (const [port, seen] of look) {
    if (seen === null) continue
    const key = { hostId: host.id, kind: 'certificate' as const, subject: String(port) }
    const before = known.find(({ subject }) => subject === key.subject) as Fact<CertificateDetail> | undefined
    const after = before
      ? judge(before, seen, now, isByTime(seen.state) ? 0 : confirm)
      : { fact: firstFact(seen, now), change: { from: 'unknown', to: seen.state } }
    if (after.change) {
      const change = { port, ...(after.change as { from: CertificateState; to: CertificateState }), fact: after.fact }
      settled.changes.push({ ...change, baseline: before === undefined })
    }
    if (!before || !isSameFact(before, after.fact)) settled.save.push({ ...key, ...after.fact })
  }
  return settled
}

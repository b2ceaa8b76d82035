import type { Reporter } from '../reputation/reporter.ts'
import {
  absorb,
  assess,
  isStrong,
  lastCounted,
  WINDOW_MS,
  type Confidence,
  type Standing,
  type State,
  type TraitsOf,
} from '../scoring/score.ts'
import { toRowChanges, circumstancesOf } from '../scoring/circumstances.ts'
import { countReporters } from '../scoring/peer-evidence.ts'
import type { AddressRow } from '../attack-list.sql.ts'
import type { Subject } from '../subject.ts'

/** Origins that reported an address before, above which a report is no discovery. */
const MAX_ORIGINS_BEFORE_EARLY = 3

export type AttackReport = { subject: Subject; service: string; port: number | null; count: number }

/** The result of a report: the state of its address after it. */
export type AppliedOutcome = {
  deduped: boolean
  ignored: boolean
  score: number
  listingState: State
  confidenceLevel: Confidence
}

/** The context of a report: its time, its reporter, and the facts about its address. */
export type ReportContext = {
  now: number
  reporter: Reporter
  standing: Standing
  shared: boolean
  bootstrap: boolean
  wellKnown: boolean
  traitsOf: TraitsOf
}

export type AppliedReport = {
  row: AddressRow
  outcome: AppliedOutcome
  /** Whether it adds to the counts, and whether anything changed at all. */
  counted: boolean
  changed: boolean
  strong: boolean
  /** The address was not on the list before. */
  early: boolean
}

/**
 * The row of an address with one more report. A pure function: the row that is given is not
 * changed.
 */
export function applyReport(
  row: AddressRow | undefined,
  report: AttackReport,
  taking: ReportContext,
): AppliedReport {
  const { now, reporter, standing, shared, traitsOf } = taking
  const known = row ?? unknown(report.subject.key, now)
  const counted = now - lastCounted(known.evidence, report.service, now) >= WINDOW_MS
  const { network, origin } = reporter
  const sighting = {
    network,
    origin,
    service: report.service,
    standing,
    port: report.port,
    count: report.count,
  }
  const evidence = absorb(known.evidence, sighting, { now, counted, shared, traitsOf })
  const circumstances = circumstancesOf({ ...known, shared }, taking, now)
  const result = assess(known.state, evidence, circumstances, now, traitsOf)
  const next: AddressRow = {
    ...known,
    evidence,
    shared,
    ...toRowChanges(known, result),
    services: [...new Set(evidence.map((e) => e.service))],
    networks: countReporters(evidence),
    totalReports: known.totalReports + Number(counted),
    lastReportedAt: new Date(now),
  }
  const outcome = {
    deduped: !counted,
    ignored: false,
    score: result.score,
    listingState: result.state,
    confidenceLevel: result.confidence,
  }
  const changed = counted || addsToEvidence(known, next, network, report.service)
  return {
    row: next,
    outcome,
    counted,
    changed,
    strong: isStrong(standing),
    early: isEarly(known, origin),
  }
}

/**
 * Whether a report can earn its network a reputation. Only the first to see an attacker earns it,
 * because anyone can repeat the list or a public lookup.
 */
function isEarly({ state, evidence }: AddressRow, origin: string): boolean {
  if (state === 'listed') return false
  const others = new Set<string>()
  for (const entry of evidence) {
    if (entry.origin !== origin) others.add(entry.origin)
    if (others.size >= MAX_ORIGINS_BEFORE_EARLY) return false
  }
  return true
}

/** A repetition within the window changes no evidence, and nothing needs to be written. */
function addsToEvidence(
  before: AddressRow,
  after: AddressRow,
  network: string,
  service: string,
): boolean {
  const entryIn = ({ evidence }: AddressRow) =>
    evidence.find((e) => e.network === network && e.service === service)
  const [old, now] = [entryIn(before), entryIn(after)]
  return !old || !now || old.at !== now.at || old.more !== now.more || old.standing !== now.standing
}

function unknown(address: string, now: number): AddressRow {
  return {
    address,
    state: 'observed',
    score: 0,
    confidence: 'none',
    evidence: [],
    services: [],
    networks: 0,
    totalReports: 0,
    firstReportedAt: new Date(now),
    lastReportedAt: new Date(now),
    dueAt: null,
    probationUntil: null,
    shared: false,
    confirmation: 'none',
    revision: 0,
  }
}

import { CONFIRM_AFTER_MS } from '../limits.ts'
import type { DomainReport, LineName, LineState } from '../shapes.ts'

/** A confirmed state, and another one that was seen once. */
type KnownState = {
  state: LineState
  /** `at` is in ISO 8601. */
  suspect: { state: LineState; at: string } | null
  /** The state before it got worse; absent once it has recovered. */
  baseline?: LineState
  /** Set while it is worse only by what alerts of monitored hosts are about. */
  isCovered?: true
}
/** By the name of a line, and `verdict`. */
export type KnownStates = Partial<Record<LineName | 'verdict', KnownState>>

export type StateChange = {
  subject: LineName | 'verdict'
  title: string
  before: LineState
  after: LineState
  /** The sentence of the new state. */
  summary: string
  /** When the new state was first seen, in ISO 8601. */
  since: string
}

export type StateComparison = {
  states: KnownStates
  changes: StateChange[]
  /** Whether a state waits for its confirmation. */
  isOpen: boolean
}

type Observation = Pick<StateChange, 'subject' | 'title' | 'summary'> & { state: LineState }

/**
 * Compares the states of a check with the known ones. A change counts when a second check, some
 * minutes later, has the same state. The first check is no change, and neither is `unknown`: what
 * could not be checked may be as it was.
 */
export function compareStates(known: KnownStates, report: DomainReport): StateComparison {
  const states: KnownStates = { ...known }
  const changes: StateChange[] = []
  for (const { subject, title, summary, state } of observationsOf(report)) {
    if (state === 'unknown') continue
    const before = known[subject]
    if (!before) states[subject] = { state, suspect: null }
    else if (before.state === state) states[subject] = { ...before, suspect: null }
    else if (!isConfirmed(before, state, report.checkedAt))
      states[subject] = { ...before, suspect: suspectOf(before, state, report.checkedAt) }
    else {
      const since = before.suspect?.at ?? report.checkedAt
      changes.push({ subject, title, summary, before: before.state, after: state, since })
      states[subject] = stateAfter(before, state)
    }
  }
  const isOpen = Object.values(states).some(({ suspect }) => suspect !== null)
  return { states, changes, isOpen }
}

function observationsOf({ verdict, lines }: DomainReport): Observation[] {
  return [
    { subject: 'verdict', title: 'Verdict', summary: verdict.sentence, state: verdict.state },
    ...lines.map(({ name, title, summary, state }) => ({ subject: name, title, summary, state })),
  ]
}

function isConfirmed({ suspect }: KnownState, state: LineState, at: string): boolean {
  return suspect?.state === state && Date.parse(at) - Date.parse(suspect.at) >= CONFIRM_AFTER_MS
}

function suspectOf({ suspect }: KnownState, state: LineState, at: string): KnownState['suspect'] {
  return suspect?.state === state ? suspect : { state, at }
}

function stateAfter(
  { state: last, baseline = last, isCovered }: KnownState,
  state: LineState,
): KnownState {
  const isStillWorse = isWorse({ before: baseline, after: state })
  return {
    state,
    suspect: null,
    ...(isStillWorse && { baseline, ...(isCovered && { isCovered }) }),
  }
}

const SEVERITY: Record<LineState, number> = { good: 0, unknown: 0, warning: 1, bad: 2 }

export function isWorse({ before, after }: Pick<StateChange, 'before' | 'after'>): boolean {
  return SEVERITY[after] > SEVERITY[before]
}

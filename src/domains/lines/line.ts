import type { Advice } from '../../protocols/advice.ts'
import type { DomainContext } from '../domain-context.ts'
import type { Proposal } from '../fixes/proposal.ts'
import type { Evidence, LineName, LineState } from '../shapes.ts'

export type LineResult = {
  state: LineState
  /** False for an optional feature that the domain does not use. */
  isUsed?: boolean
  /** One sentence. */
  summary: string
  details?: string[]
  evidence?: Evidence[]
  proposals?: Proposal[]
}

/** One line of the picture: its name, its title, and the work itself. */
export type Line = {
  name: LineName
  title: string
  /** @throws Fault when nothing can be said */
  check(context: DomainContext): Promise<LineResult>
}

const RANKS: Record<LineState, number> = { bad: 0, warning: 1, unknown: 2, good: 3 }

/** The worst of some states; good when there are none. */
export function worstOf(states: readonly LineState[]): LineState {
  return states.toSorted((one, other) => RANKS[one] - RANKS[other])[0] ?? 'good'
}

/** The state that advice of a protocol amounts to; `info` is no problem. */
export function stateOfAdvice(advice: readonly Advice[]): LineState {
  const severities = new Set(advice.map(({ severity }) => severity))
  if (severities.has('error')) return 'bad'
  return severities.has('warning') ? 'warning' : 'good'
}

export const messagesOf = (advice: readonly Advice[]) => advice.map(({ message }) => message)

/** The line of an optional feature that the domain does not use. */
export function unused(summary: string, details: string[] = []): LineResult {
  return { state: 'good', isUsed: false, summary, details }
}

/** The line of something that could not be looked up. */
export function unanswered(what: string, failure: string): LineResult {
  return { state: 'unknown', summary: `${what} could not be looked up (${failure}).` }
}

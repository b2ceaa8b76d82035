import { clipText } from '../../../clip-text.ts'
import type { MailFacts } from './mail-facts.ts'

/** How much a failure matters: it alone may cost delivery, it adds to suspicion, or it is a hint. */
export const SEVERITIES = ['blocks', 'hurts', 'note'] as const
export type Severity = (typeof SEVERITIES)[number]

/** `not-checked`: it does not apply, or what decides it could not be found out. Never “passed”. */
export const FINDING_STATES = ['passed', 'failed', 'not-checked'] as const
export type FindingState = (typeof FINDING_STATES)[number]

export const CHECK_GROUPS = [
  'connection',
  'authentication',
  'lists',
  'header',
  'structure',
  'content',
  'bulk',
] as const
type CheckGroup = (typeof CHECK_GROUPS)[number]

/** The result of one check of a mail. */
export type Finding = {
  id: string
  group: CheckGroup
  severity: Severity
  state: FindingState
  title: string
  /** What receivers expect, as a sentence. */
  rule: string
  /** Where that is written. */
  source: string
  /** What was seen, as sentences. */
  evidence: string
  /** What to do about a failure; null without one. */
  fix: string | null
}

/** A result before it is joined with its check. `severity` replaces that of the check. */
export type Outcome = Pick<Finding, 'state' | 'evidence'> & { fix?: string; severity?: Severity }

/** A check of a mail. `run` may wait for DNS; it must not throw for anything in the mail. */
export type MailCheck = Pick<Finding, 'id' | 'group' | 'severity' | 'title' | 'rule' | 'source'> & {
  run: (facts: MailFacts) => Outcome | Promise<Outcome>
}

export const passed = (evidence: string): Outcome => ({ state: 'passed', evidence })

export const notChecked = (evidence: string): Outcome => ({ state: 'not-checked', evidence })

export const failed = (evidence: string, fix: string, severity?: Severity): Outcome => ({
  state: 'failed',
  evidence,
  fix,
  ...(severity && { severity }),
})

const MAX_QUOTED = 160

/** Text of a mail within a sentence: printable, on one line, and short. */
export function quoted(text: string): string {
  return `“${clipText(text, MAX_QUOTED)}”`
}

/** “a, b and 3 more”. */
export function listed(items: readonly string[], most = 5): string {
  if (items.length <= most) return items.join(', ')
  return `${items.slice(0, most).join(', ')} and ${items.length - most} more`
}

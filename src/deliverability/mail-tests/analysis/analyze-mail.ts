import { setImmediate as nextTurn } from 'node:timers/promises'
import { clipText } from '../../../clip-text.ts'
import { messageOf } from '../../../errors.ts'
import { AUTHENTICATION_CHECKS } from './checks/authentication-checks.ts'
import { BULK_CHECKS } from './checks/bulk-checks.ts'
import { CONNECTION_CHECKS } from './checks/connection-checks.ts'
import { CONTENT_CHECKS } from './checks/content-checks.ts'
import { HEADER_CHECKS } from './checks/header-checks.ts'
import { LIST_CHECKS } from './checks/list-checks.ts'
import { STRUCTURE_CHECKS } from './checks/structure-checks.ts'
import { notChecked, type Finding, type MailCheck, type Outcome } from './finding.ts'
import { createMailFacts, type AnalysisDeps, type MailFacts, type TestMail } from './mail-facts.ts'

/** All checks of a mail, in the order in which they are shown. */
export const MAIL_CHECKS: readonly MailCheck[] = [
  ...CONNECTION_CHECKS,
  ...AUTHENTICATION_CHECKS,
  ...LIST_CHECKS,
  ...HEADER_CHECKS,
  ...STRUCTURE_CHECKS,
  ...CONTENT_CHECKS,
  ...BULK_CHECKS,
]

/** Milliseconds for all checks of a mail; what has no result by then was not checked. */
const ANALYSIS_DEADLINE_MS = 9_000

export type AnalysisOptions = {
  signal: AbortSignal
  /** Called for each finding as soon as it is known. */
  onFinding?: (finding: Finding) => void
  deadlineMs?: number
  /** Told of a check that failed because of a defect; its finding is “not checked”. */
  onDefect?: (check: string, error: unknown) => void
}

/**
 * Checks a mail. Findings arrive in any order: those of the text at once, those that need DNS as
 * they are answered. Nothing in the mail is fetched or believed.
 * @returns a finding for each of `MAIL_CHECKS`, in their order, within the deadline
 */
export async function analyzeMail(
  mail: TestMail,
  deps: AnalysisDeps,
  { signal, onFinding, deadlineMs = ANALYSIS_DEADLINE_MS, onDefect }: AnalysisOptions,
): Promise<Finding[]> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
  const facts = createMailFacts(mail, deps, stop)
  const late = lateOutcome(stop)
  const runs: Promise<Finding>[] = []
  for (const check of MAIL_CHECKS) {
    // A large mail costs several checks some time each; the requests of others go on between them.
    await nextTurn()
    runs.push(
      runCheck(check, facts, late, onDefect).then((finding) => {
        onFinding?.(finding)
        return finding
      }),
    )
  }
  return Promise.all(runs)
}

async function runCheck(
  { run, ...check }: MailCheck,
  facts: MailFacts,
  late: Promise<Outcome>,
  onDefect: AnalysisOptions['onDefect'],
): Promise<Finding> {
  let outcome: Outcome
  try {
    outcome = await Promise.race([run(facts), late])
  } catch (error) {
    onDefect?.(check.id, error)
    outcome = notChecked(`The check failed: ${messageOf(error)}.`)
  }
  const { severity = check.severity, fix = null, state } = outcome
  return {
    ...check,
    state,
    severity,
    evidence: clipText(outcome.evidence, MAX_TEXT_CHARACTERS),
    fix: state === 'failed' && fix !== null ? clipText(fix, MAX_TEXT_CHARACTERS) : null,
  }
}

const MAX_TEXT_CHARACTERS = 1_000

function lateOutcome(stop: AbortSignal): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  // A little after the queries end with the signal, so that partial results count.
  const end = () => setTimeout(() => resolve(notChecked('It took too long.')), LATE_MS).unref()
  stop.addEventListener('abort', end, { once: true })
  if (stop.aborted) end()
  return promise
}

const LATE_MS = 300

import type { MailFinding } from '../shapes.ts'
import { listed } from './analysis/finding.ts'
import type { BackgroundFact } from './background/background-fact.ts'

type Judged = Pick<MailFinding, 'state' | 'severity' | 'title' | 'evidence' | 'fix'>

/** The result of a mail in one sentence. It says nothing about the folder: a test cannot know that. */
export function verdictOfMail(
  state: 'analyzing' | 'done' | 'failed',
  findings: readonly Judged[],
): string {
  if (state === 'failed') return 'The analysis did not end. Send the mail again.'
  const count = (severity: string) =>
    findings.filter((one) => one.state === 'failed' && one.severity === severity).length
  const [blocks, hurts] = [count('blocks'), count('hurts')]
  if (state === 'analyzing') return `${findings.length} checks have ended so far.`
  if (blocks > 0)
    return `${problems(blocks)} can block this mail${hurts > 0 ? `, ${hurts} more ${hurts === 1 ? 'hurts' : 'hurt'}` : ''}.`
  if (hurts > 0)
    return `Nothing blocks this mail. ${problems(hurts)} ${hurts === 1 ? 'hurts' : 'hurt'} it.`
  const passed = findings.filter((one) => one.state === 'passed').length
  const checked = findings.filter((one) => one.state !== 'not-checked').length
  const result = `${passed} of ${checked} checks passed, and nothing blocks or hurts this mail`
  const open = findings.filter(isOpen).map(({ title }) => title)
  return open.length === 0
    ? `${result}.`
    : `${result} as far as could be checked. Not checked: ${listed(open)}.`
}

/** Whether it could block the mail, but is not known. */
const isOpen = ({ state, severity }: Judged) => state === 'not-checked' && severity === 'blocks'

/**
 * What to do first, in one or two sentences; null before the end of the analysis.
 * @param findings the gravest first
 */
export function firstStepOf(
  state: 'analyzing' | 'done' | 'failed',
  findings: readonly Judged[],
  background: readonly Pick<BackgroundFact, 'title' | 'state' | 'sentence'>[],
): string | null {
  if (state !== 'done') return null
  const [worst] = findings.filter((one) => one.state === 'failed' && one.severity !== 'note')
  if (worst?.fix) return `Start with “${worst.title}”: ${worst.fix}`
  const fact = background.find((one) => one.state === 'notice')
  if (fact) return `Start with “${fact.title}”: ${fact.sentence}`
  const open = findings.find(isOpen)
  if (open) return `“${open.title}” is not known: ${open.evidence}`
  return 'Nothing in this mail explains spam. Receivers also judge how long they know a sender, how much it sends, and how many people complain. Create a canary to see where your mail arrives.'
}

function problems(count: number): string {
  return `${count} ${count === 1 ? 'problem' : 'problems'}`
}

import type { MailFinding } from '../shapes.ts'

type Judged = Pick<MailFinding, 'state' | 'severity'>

/** The result of a mail in one sentence. It says nothing about the folder: a test cannot know that. */
export function verdictOfMail(
  state: 'analyzing' | 'done' | 'failed',
  findings: readonly Judged[],
): string {
  if (state === 'failed') return 'The analysis did not end. Send the mail again.'
  const count = (severity: string) =>
    findings.filter((one) => one.state === 'failed' && one.severity === severity).length
  const [blocks, hurts] = [count('blocks'), count('hurts')]
  const passed = findings.filter((one) => one.state === 'passed').length
  const checked = findings.filter((one) => one.state !== 'not-checked').length
  if (state === 'analyzing') return `${findings.length} checks have ended so far.`
  if (blocks > 0)
    return `${problems(blocks)} can block this mail${hurts > 0 ? `, ${hurts} more hurt` : ''}.`
  if (hurts > 0)
    return `Nothing blocks this mail. ${problems(hurts)} ${hurts === 1 ? 'hurts' : 'hurt'} it.`
  return `${passed} of ${checked} checks passed, and nothing blocks or hurts this mail.`
}

function problems(count: number): string {
  return `${count} ${count === 1 ? 'problem' : 'problems'}`
}

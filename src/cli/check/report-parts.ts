import type { Verdict } from '../../diagnostics/check-verdict.ts'
import { paint, sanitizeForTerminal } from '../terminal-text.ts'

export const good = (text: string) => paint('green', text)
export const bad = (text: string) => paint(['bold', 'red'], text)
export const doubtful = (text: string) => paint('yellow', text)
export const quiet = (text: string) => paint('dim', text)

const LABELS: Record<Verdict['state'], string> = {
  good: good('✓ OK'),
  warning: doubtful('! Warning'),
  bad: bad('✗ Error'),
  unknown: doubtful('? Unknown'),
}

/** The first lines of every report: the target, then the verdict in the words of the dashboard. */
export function heading(target: string, { state, sentence }: Verdict): string {
  const verdict = `${LABELS[state]}: ${sanitizeForTerminal(sentence)}`
  return `\n  ${paint('bold', sanitizeForTerminal(target))}\n  ${verdict}\n`
}

/** Problems that a check found, after its facts. */
export function warningLines(sentences: string[]): string[] {
  return sentences.length > 0
    ? ['', ...sentences.map((sentence) => `  ${doubtful('!')} ${sanitizeForTerminal(sentence)}`)]
    : []
}

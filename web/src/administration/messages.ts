import type { Tone } from '../ui/feedback/status.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import type { AuditEntryRow, Health } from './api.ts'

type State = Health['findings'][number]['state']

export const STATE_TONES: Record<State, { tone: Tone; word: string }> = {
  good: { tone: 'good', word: 'Well' },
  doubtful: { tone: 'warn', word: 'Could be better' },
  bad: { tone: 'bad', word: 'Wrong' },
}

/** The verdict first, in a sentence. */
export function describeHealth(findings: Health['findings']): { tone: Tone; sentence: string } {
  const of = (state: State) => findings.filter((finding) => finding.state === state).length
  const [bad, doubtful] = [of('bad'), of('doubtful')]
  if (bad > 0) return { tone: 'bad', sentence: `${counted(bad, 'thing')} ${bad === 1 ? 'is' : 'are'} wrong.` }
  if (doubtful > 0) return { tone: 'warn', sentence: `It works, and ${counted(doubtful, 'thing')} could be better.` }
  return { tone: 'good', sentence: 'All is well.' }
}

/** `2 running, 1 ready`; null when there is no work. */
export function describeQueue({ running, ready, later }: Health['jobs'][number]): string | null {
  const parts: [number, string][] = [
    [running, 'running'],
    [ready, 'waiting for a worker'],
    [later, 'for later'],
  ]
  const text = parts.flatMap(([count, words]) => (count > 0 ? [`${numberText(count)} ${words}`] : [])).join(', ')
  return text || null
}

/** What was given with an act, as people read it; whose account it was about stands first, in place of its id. */
export function describeDetails(details: AuditEntryRow['details']): [name: string, value: string][] {
  const { account, id, ...rest } = details
  const about = account ?? id
  const all = [...(about === undefined ? [] : [[account ? 'account' : 'id', about] as const]), ...Object.entries(rest)]
  return all.map(([name, value]) => [name, valueText(value)])
}

function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

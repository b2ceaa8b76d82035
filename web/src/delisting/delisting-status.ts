import type { Tone } from '../ui/feedback/status.tsx'
import type { Delisting, Step } from './api.ts'
import { status as words, step as stepWords, summary } from './messages.ts'

type LabelledStatus = { tone: Tone; word: string }

/** Steps that continue only after the user did something. */
export function stepsNeedingAction({ steps }: Pick<Delisting, 'steps'>): Step[] {
  return steps.filter(({ needs }) => needs !== null)
}

/** The status of a delisting, in a word or two. */
export function describeStatus(delisting: Delisting): LabelledStatus {
  const waiting = stepsNeedingAction(delisting).length
  const { status } = delisting
  if (status === 'completed') return { tone: 'good', word: words.completed }
  if (status === 'failed') return { tone: 'bad', word: words.failed }
  if (waiting > 0) return { tone: 'warn', word: words.stepsNeedAction(waiting) }
  return { tone: 'info', word: words[status] }
}

/** Steps with a text to forward. Providers never report whether it was forwarded. */
export function stepsToForward({ steps }: Pick<Delisting, 'steps'>): Step[] {
  return steps.filter((step) => step.method === 'provider' && step.needs === null && !isFinal(step))
}

/** The state of a delisting in one or two sentences, verdict first. */
export function summarizeDelisting(delisting: Delisting): string {
  const { ip, status, stepsCompleted, totalListings, steps } = delisting
  if (status === 'pending') return summary.pending(ip, totalListings)
  if (status === 'completed') return summary.completed(ip, totalListings)
  const progress = summary.progress(ip, stepsCompleted, totalListings)
  if (status === 'failed') {
    return `${progress} ${summary.failed(steps.filter((step) => step.status === 'failed').length)}`
  }
  const waiting = stepsNeedingAction(delisting).length
  if (waiting > 0) return `${progress} ${summary.needsAction(waiting)}`
  return `${progress} ${stepsToForward(delisting).length > 0 ? summary.forward : summary.noAction}`
}

const TONES: Record<Step['status'], Tone> = {
  pending: 'info',
  running: 'info',
  'email-sent': 'info',
  waiting: 'info',
  completed: 'good',
  failed: 'bad',
}

export function describeStepStatus({ status, needs }: Step): LabelledStatus {
  return needs
    ? { tone: 'warn', word: stepWords.needs[needs] }
    : { tone: TONES[status], word: stepWords.statuses[status] }
}

/** Attempts after which a step cannot be restarted. */
const MAX_ATTEMPTS = 3

/** Whether the user may have the list checked now, or restart the step. */
export function canRetry({ status, attempt }: Step): boolean {
  return (
    status === 'waiting' ||
    status === 'email-sent' ||
    (status === 'failed' && attempt < MAX_ATTEMPTS)
  )
}

export function isFinal({ status }: Step): boolean {
  return status === 'completed' || status === 'failed'
}

/** Whether cause and fix are known, which the texts for the lists quote. */
export function isExplained({ cause, fix }: Pick<Delisting, 'cause' | 'fix'>): boolean {
  return cause !== null && fix !== null
}

/** Whether the list still needs a request by email or form. */
export function isNotRequested({ method, request, status }: Step): boolean {
  const isRequested = request !== null && request.state !== 'none'
  return (
    (method === 'email' || method === 'form') &&
    !isRequested &&
    (status === 'waiting' || status === 'running')
  )
}

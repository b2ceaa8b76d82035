import type { Tone } from '../ui/feedback/status.tsx'
import { counted } from '../ui/text/format.ts'
import type { Delisting, Step } from './api.ts'

type Standing = { tone: Tone; word: string }

/** Steps that go on only when a person has done something. */
export function stepsNeedingAction({ steps }: Pick<Delisting, 'steps'>): Step[] {
  return steps.filter(({ needs }) => needs !== null)
}

/** How a case stands, in a word. */
export function describeStatus(it: Delisting): Standing {
  const waiting = stepsNeedingAction(it).length
  if (it.status === 'completed') return { tone: 'good', word: 'Off the lists' }
  if (it.status === 'failed') return { tone: 'bad', word: 'Not everywhere' }
  if (waiting > 0) return { tone: 'warn', word: `${counted(waiting, 'step')} for you` }
  return { tone: 'info', word: it.status === 'pending' ? 'Beginning' : 'Under way' }
}

/** Steps that wait for a text to be forwarded: a provider never says whether it was. */
export function stepsToForward({ steps }: Pick<Delisting, 'steps'>): Step[] {
  return steps.filter((step) => step.method === 'provider' && step.needs === null && !isFinal(step))
}

/** The verdict first, in a sentence or two. */
export function summarizeDelisting(it: Delisting): string {
  const { ip, status, stepsCompleted, totalListings, steps } = it
  const all = counted(totalListings, 'blacklist')
  if (status === 'pending') return `${ip} is listed on ${all}. The first step begins within a minute.`
  if (status === 'completed') return `${ip} is off ${totalListings === 1 ? 'the blacklist' : `all ${all}`}.`
  const left = `${stepsCompleted} of ${all} ${stepsCompleted === 1 ? 'has' : 'have'} let ${ip} go.`
  if (status === 'failed') {
    const failed = steps.filter((step) => step.status === 'failed').length
    return `${left} ${counted(failed, 'step')} ended without success.`
  }
  const waiting = stepsNeedingAction(it).length
  if (waiting === 0 && stepsToForward(it).length > 0)
    return `${left} Forward the text to your provider; nothing else waits for you.`
  if (waiting === 0) return `${left} Nothing waits for you.`
  return `${left} ${counted(waiting, 'step')} ${waiting === 1 ? 'waits' : 'wait'} for you.`
}

const STANDINGS: Record<Step['status'], Standing> = {
  pending: { tone: 'info', word: 'Begins' },
  running: { tone: 'info', word: 'Under way' },
  'email-sent': { tone: 'info', word: 'Mail sent' },
  waiting: { tone: 'info', word: 'Waiting' },
  completed: { tone: 'good', word: 'Off the list' },
  failed: { tone: 'bad', word: 'Ended' },
}

const NEEDS: Record<NonNullable<Step['needs']>, string> = {
  mend: 'Mend this first',
  confirm: 'Say what happened',
  submit: 'Submit the form',
  send: 'Send the mail',
}

export function describeStepStatus({ status, needs }: Step): Standing {
  return needs ? { tone: 'warn', word: NEEDS[needs] } : STANDINGS[status]
}

export const CATEGORIES: Record<Step['category'], string> = {
  critical: 'Many receivers reject mail because of it.',
  major: 'Many receivers look at it.',
  minor: 'Few receivers look at it.',
  informational: 'It says little about one address.',
}

export const METHODS: Record<Step['method'], string> = {
  automatic: 'It leaves by itself.',
  email: 'The list takes requests by mail.',
  form: 'The list has a form for people.',
  provider: 'Only the owner of the network can ask.',
}

/** Attempts after which a step is not begun anew. */
const MAX_ATTEMPTS = 3

/** Which steps a person may ask the list about at once, and which begin anew. */
export function canRetry({ status, attempt }: Step): boolean {
  return status === 'waiting' || status === 'email-sent' || (status === 'failed' && attempt < MAX_ATTEMPTS)
}

export function isFinal({ status }: Step): boolean {
  return status === 'completed' || status === 'failed'
}

/** Whether the list has still to be asked by mail or form. */
export function isNotRequested({ method, request, status }: Step): boolean {
  const isAsked = request !== null && request.state !== 'none'
  return (method === 'email' || method === 'form') && !isAsked && (status === 'waiting' || status === 'running')
}

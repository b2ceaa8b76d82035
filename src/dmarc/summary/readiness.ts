import type { Sender } from '../senders/senders.ts'
import type { Readiness } from '../shapes.ts'
import { daysIn } from './range.ts'
import type { DayRange, SourceRow } from './dmarc-summary.sql.ts'

export type ReadinessFacts = {
  messages: number
  aligned: number
  window: DayRange & { daysWithMail: number; endsToday: boolean }
  /** The last day that any stored report covers; null without reports. */
  newestDay: string | null
  /** The policy that receivers found last. */
  published: string | null
  senders: Sender[]
  /** Sources with failed messages, most failures first. */
  affected: Affected
}

type Affected = Readiness['affected']
type Decision = Pick<Readiness, 'verdict' | 'sentence'> & Partial<Pick<Readiness, 'undecided'>>

/**
 * A sender with this share of passed messages is set up; the rest are exceptions such as broken
 * signatures. Below this share of all messages, unknown sources are no obstacle.
 */
const SAFE_PASS_RATE = 0.98

/** Below these, a single newsletter could reverse the verdict. */
const MIN_MESSAGES = 100
const MIN_DAYS_WITH_MAIL = 7

const MAX_AFFECTED = 20
const MAX_NAMED = 5

/**
 * Evaluates whether the next stricter policy is safe: whether all senders of the domain’s owner
 * pass, and how much mail comes from sources that nobody has marked.
 */
export function evaluateReadiness(facts: ReadinessFacts): Readiness {
  const { messages, aligned, published, affected, window } = facts
  const { from, to } = window
  const passRate = messages === 0 ? null : aligned / messages
  const policy =
    published === 'reject' ? null : published === 'quarantine' ? 'reject' : 'quarantine'
  const decision = decide(facts, passRate, policy)
  return { undecided: [], ...decision, policy, published, passRate, from, to, affected }
}

/** The sources that a stricter policy would affect, most failures first. */
export function affectedSources(
  sources: Pick<SourceRow, 'source' | 'messages' | 'aligned' | 'reverseName' | 'confirmed'>[],
): Affected {
  return sources
    .filter(({ messages, aligned }) => messages > aligned)
    .slice(0, MAX_AFFECTED)
    .map(({ source, messages, aligned, reverseName, confirmed }) => {
      return {
        sourceIp: source,
        name: confirmed ? reverseName : null,
        messages,
        fail: messages - aligned,
      }
    })
}

function decide(
  facts: ReadinessFacts,
  passRate: number | null,
  policy: Readiness['policy'],
): Decision {
  const { messages, window, newestDay } = facts
  if (passRate === null) {
    const newest = newestDay === null ? '' : ` The newest report covers ${newestDay}.`
    return { verdict: 'no-data', sentence: `No messages in ${windowText(window)}.${newest}` }
  }
  const share = `${percent(passRate)} of ${messagesText(messages)} in ${windowText(window)} passed.`
  if (policy === null) return { verdict: 'enforced', sentence: `p=reject is in force. ${share}` }
  const missing = missingMail(messages, window.daysWithMail)
  if (missing !== null) {
    const sentence = `${missing}, then we can tell whether p=${policy} is safe. ${share}`
    return { verdict: 'too-early', sentence }
  }
  const { sentence, ...decision } = decideBySenders(facts, policy)
  return { ...decision, sentence: `${sentence} ${share}` }
}

/** What is missing for a verdict: `One more day of mail`; null if there is enough. */
function missingMail(messages: number, daysWithMail: number): string | null {
  const days = Math.max(0, MIN_DAYS_WITH_MAIL - daysWithMail)
  const more = Math.max(0, MIN_MESSAGES - messages)
  const parts = [
    days > 0 && `${days === 1 ? 'one' : days} more ${days === 1 ? 'day' : 'days'} of mail`,
    more > 0 && `${more === 1 ? 'one' : more} more ${more === 1 ? 'message' : 'messages'}`,
  ].filter((part) => part !== false)
  if (parts.length === 0) return null
  const text = parts.join(' and ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function decideBySenders({ messages, senders }: ReadinessFacts, policy: string): Decision {
  const mine = senders.filter(({ isMine }) => isMine)
  const failing = mine.filter(
    (sender) => sender.messages - sender.fail < sender.messages * SAFE_PASS_RATE,
  )
  const unknown = senders.filter(({ isMine, mark, fail }) => !isMine && mark === null && fail > 0)
  if (failing.length > 0)
    return {
      verdict: 'not-ready',
      sentence: `${failing.length} of your ${number(mine.length)} ${mine.length === 1 ? 'sender' : 'senders'} ${failing.length === 1 ? 'fails' : 'fail'}: ${nameFailing(failing)}.`,
    }
  if (failuresOf(unknown) > messages * (1 - SAFE_PASS_RATE))
    return {
      verdict: 'not-ready',
      sentence: describeUndecided(unknown, senders),
      undecided: unknown
        .slice(0, MAX_AFFECTED)
        .map(({ id, name, messages: sent, fail }) => ({ id, name, messages: sent, fail })),
    }
  if (mine.length === 0) return { verdict: 'not-ready', sentence: 'No sender of yours passes.' }
  return { verdict: 'ready', sentence: describeSafe(mine, unknown, policy) }
}

/** `192.0.2.7 sent 1,206 messages that all fail. Is it yours? Everything else passes.` */
function describeUndecided(unknown: Sender[], senders: Sender[]): string {
  const [only] = unknown
  const fail = failuresOf(unknown)
  const others = failuresOf(senders) === fail ? ' Everything else passes.' : ''
  if (unknown.length === 1 && only) {
    const failed =
      only.fail === only.messages
        ? 'that all fail'
        : `of which ${number(fail)} ${fail === 1 ? 'fails' : 'fail'}`
    return `${only.name} sent ${messagesText(only.messages)} ${failed}. Is it yours?${others}`
  }
  const named = unknown.slice(0, MAX_NAMED).map(({ name }) => name)
  const more = unknown.length - named.length
  const names = more > 0 ? `${named.join(', ')} and ${number(more)} more` : named.join(', ')
  return `${number(unknown.length)} unknown senders sent ${messagesText(fail)} that fail: ${names}. Are they yours?${others}`
}

function describeSafe(mine: Sender[], unknown: Sender[], policy: string): string {
  const all =
    mine.length === 1 ? 'your sender passes' : `all ${number(mine.length)} of your senders pass`
  const own = failuresOf(mine)
  return [
    `Safe to move to p=${policy}: ${all}.`,
    own > 0 && `${messagesText(own)} of yours would still be affected.`,
    unknown.length > 0 && `${sourcesText(unknown)} would be affected.`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Failing senders with their failed messages: `SendGrid (31 of 400 messages)`. */
function nameFailing(failing: Sender[]): string {
  const named = failing
    .slice(0, MAX_NAMED)
    .map(({ name, fail, messages }) => `${name} (${number(fail)} of ${messagesText(messages)})`)
  const more = failing.length - named.length
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ')
}

function failuresOf(senders: Sender[]): number {
  return senders.reduce((sum, { fail }) => sum + fail, 0)
}

/** `2 unknown sources (31 messages)` */
function sourcesText(unknown: Sender[]): string {
  const sources = unknown.reduce((sum, one) => sum + one.sources, 0)
  return `${number(sources)} unknown ${sources === 1 ? 'source' : 'sources'} (${messagesText(failuresOf(unknown))})`
}

function messagesText(count: number): string {
  return `${number(count)} ${count === 1 ? 'message' : 'messages'}`
}

/** `the last 30 days`, or the 30 days until a day in the past. */
function windowText({ from, to, endsToday }: ReadinessFacts['window']): string {
  const days = `${number(daysIn({ from, to }))} days`
  return endsToday ? `the last ${days}` : `the ${days} until ${to}`
}

/** Rounded down, so that 99.97% does not read as 100%. */
function percent(rate: number): string {
  return `${(Math.floor(rate * 1000) / 10).toFixed(1)}%`
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

import type { Sender } from '../senders/senders.ts'
import type { SourceRow } from './store.ts'

export type Readiness = {
  verdict: 'no-data' | 'too-early' | 'not-ready' | 'ready' | 'enforced'
  policy: 'quarantine' | 'reject' | null
  published: string | null
  passRate: number | null
  sentence: string
  affected: { sourceIp: string; name: string | null; messages: number; fail: number }[]
}

export type ReadinessFacts = {
  messages: number
  aligned: number
  /** Days of the range, and how many of them had mail. */
  days: number
  daysWithMail: number
  /** The policy that receivers found last. */
  published: string | null
  senders: Sender[]
  /** Sources with failed messages, most failures first. */
  affected: Affected
}

type Affected = Readiness['affected']
type Decision = Pick<Readiness, 'verdict' | 'sentence'>

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
  const { messages, aligned, published, affected } = facts
  const passRate = messages === 0 ? null : aligned / messages
  const policy =
    published === 'reject' ? null : published === 'quarantine' ? 'reject' : 'quarantine'
  return { ...decide(facts, passRate, policy), policy, published, passRate, affected }
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
  const { messages, days, daysWithMail } = facts
  if (passRate === null)
    return { verdict: 'no-data', sentence: `No messages were reported in ${inDays(days)}.` }
  const share = `${percent(passRate)} of ${number(messages)} messages in ${inDays(days)} passed.`
  if (policy === null) return { verdict: 'enforced', sentence: `p=reject is in force. ${share}` }
  if (messages < MIN_MESSAGES || daysWithMail < MIN_DAYS_WITH_MAIL) {
    const sentence = `Too early for p=${policy}: it takes ${MIN_MESSAGES} messages and mail on ${MIN_DAYS_WITH_MAIL} days to tell. ${share} ${inDays(daysWithMail)} had mail.`
    return { verdict: 'too-early', sentence }
  }
  const { verdict, sentence } = decideBySenders(facts, policy)
  return { verdict, sentence: `${sentence} ${share}` }
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
      sentence: `Not safe for p=${policy} yet: ${failing.length} of your ${number(mine.length)} ${mine.length === 1 ? 'sender' : 'senders'} ${failing.length === 1 ? 'fails' : 'fail'}: ${nameFailing(failing)}.`,
    }
  if (failuresOf(unknown) > messages * (1 - SAFE_PASS_RATE))
    return {
      verdict: 'not-ready',
      sentence: `Not decided for p=${policy} yet: mark ${sourcesText(unknown)} as “Mine” or “Not mine” first.`,
    }
  if (mine.length === 0)
    return {
      verdict: 'not-ready',
      sentence: `Not safe for p=${policy} yet: no sender of yours passes.`,
    }
  return { verdict: 'ready', sentence: describeSafe(mine, unknown, policy) }
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

function inDays(days: number): string {
  return days === 1 ? '1 day' : `${number(days)} days`
}

/** Rounded down, so that 99.97% does not read as 100%. */
function percent(rate: number): string {
  return `${(Math.floor(rate * 1000) / 10).toFixed(1)}%`
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

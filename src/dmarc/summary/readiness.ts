import type { GroupRow, SourceRow } from './store.ts'

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
  /** Most failures first. */
  sources: Pick<SourceRow, 'source' | 'messages' | 'aligned' | 'reverseName' | 'confirmed'>[]
  groups: GroupRow[]
}

/** From this share on, failures are more likely spoofed messages than the owner's. */
const SAFE_PASS_RATE = 0.98

/** Below these, a single newsletter could reverse the verdict. */
const MIN_MESSAGES = 100
const MIN_DAYS_WITH_MAIL = 7

const MAX_AFFECTED = 20
const MAX_NAMED = 5

/** Evaluates whether the next stricter policy is safe, and which sources it would affect. */
export function evaluateReadiness(facts: ReadinessFacts): Readiness {
  const { messages, aligned, published } = facts
  const passRate = messages === 0 ? null : aligned / messages
  const policy =
    published === 'reject' ? null : published === 'quarantine' ? 'reject' : 'quarantine'
  const affected = affectedOf(facts)
  return { ...decide(facts, passRate, policy, affected), policy, published, passRate, affected }
}

type Affected = Readiness['affected']

function affectedOf({ sources }: ReadinessFacts): Affected {
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
  affected: Affected,
): Pick<Readiness, 'verdict' | 'sentence'> {
  const { messages, days, daysWithMail } = facts
  if (passRate === null) {
    return { verdict: 'no-data', sentence: `No messages were reported in ${inDays(days)}.` }
  }
  const share = `${percent(passRate)} of ${number(messages)} messages in ${inDays(days)} passed`
  if (policy === null) {
    const effect = affected.length === 0 ? '' : ` and affects ${describeAffected(affected)}`
    return { verdict: 'enforced', sentence: `${share}. p=reject is in force${effect}.` }
  }
  if (messages < MIN_MESSAGES || daysWithMail < MIN_DAYS_WITH_MAIL) {
    const sentence = `${share}, and ${inDays(daysWithMail)} had mail. That is not enough to tell whether p=${policy} is safe.`
    return { verdict: 'too-early', sentence }
  }
  if (passRate >= SAFE_PASS_RATE) {
    const but = affected.length === 0 ? 'and' : 'but'
    const sentence = `${share}. Moving to p=${policy} is safe ${but} would affect ${describeAffected(affected)}.`
    return { verdict: 'ready', sentence }
  }
  const sentence = `${share}. Moving to p=${policy} is not safe yet and would affect ${describeAffected(affected)}.`
  return { verdict: 'not-ready', sentence: `${sentence}${describeWithoutFailing(facts, policy)}` }
}

/** Failing sources often do not belong to the domain's owner, but only the owner knows. */
function describeWithoutFailing(
  { messages, aligned, groups }: ReadinessFacts,
  policy: string,
): string {
  const failing = groups.find(({ group }) => group === 'failing')
  if (!failing || aligned / (messages - failing.messages) < SAFE_PASS_RATE) return ''
  const subject =
    failing.sources === 1
      ? 'the failing source is not'
      : `none of the ${number(failing.sources)} failing sources is`
  return ` If ${subject} yours, p=${policy} is safe.`
}

function describeAffected(affected: Affected): string {
  if (affected.length === 0) return 'no source'
  const count =
    affected.length === 1
      ? '1 source'
      : affected.length < MAX_AFFECTED
        ? `${affected.length} sources`
        : `at least ${affected.length} sources`
  return `${count}: ${nameAffected(affected)}`
}

function nameAffected(affected: Affected): string {
  const named = affected.slice(0, MAX_NAMED).map(({ sourceIp, name, fail }) => {
    return `${name ?? sourceIp} (${number(fail)} ${fail === 1 ? 'message' : 'messages'})`
  })
  const more = affected.length - named.length
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ')
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

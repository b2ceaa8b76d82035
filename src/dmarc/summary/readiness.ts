import type { GroupRow, SourceRow } from './store.ts'

export type Readiness = {
  verdict: 'no-data' | 'too-early' | 'not-ready' | 'ready' | 'enforced'
  policy: 'quarantine' | 'reject' | null
  published: string | null
  passRate: number | null
  sentence: string
  affected: { sourceIp: string; name: string | null; messages: number; fail: number }[]
}

export type Facts = {
  messages: number
  aligned: number
  /** Days asked about, and those of them on which mail was reported. */
  days: number
  daysWithMail: number
  /** The policy as receivers last found it. */
  published: string | null
  /** Most failures first. */
  sources: Pick<SourceRow, 'source' | 'messages' | 'aligned' | 'reverseName' | 'confirmed'>[]
  groups: GroupRow[]
}

/** From here on, what fails is rather somebody else's mail than one's own. */
const SAFE = 0.98

/** Fewer tell nothing: one newsletter would turn the answer round. */
const ENOUGH_MESSAGES = 100
const ENOUGH_DAYS = 7

const MOST_AFFECTED = 20
const MOST_NAMED = 5

/** Whether the next stricter policy is safe, in one sentence, and whose mail it would hit. */
export function readinessOf(facts: Facts): Readiness {
  const { messages, aligned, published } = facts
  const passRate = messages === 0 ? null : aligned / messages
  const policy = published === 'reject' ? null : published === 'quarantine' ? 'reject' : 'quarantine'
  const affected = affectedOf(facts)
  return { ...verdictOn(facts, passRate, policy, affected), policy, published, passRate, affected }
}

type Affected = Readiness['affected']

function affectedOf({ sources }: Facts): Affected {
  return sources
    .filter(({ messages, aligned }) => messages > aligned)
    .slice(0, MOST_AFFECTED)
    .map(({ source, messages, aligned, reverseName, confirmed }) => {
      return { sourceIp: source, name: confirmed ? reverseName : null, messages, fail: messages - aligned }
    })
}

function verdictOn(
  facts: Facts,
  passRate: number | null,
  policy: Readiness['policy'],
  affected: Affected,
): Pick<Readiness, 'verdict' | 'sentence'> {
  const { messages, days, daysWithMail } = facts
  if (passRate === null) {
    return { verdict: 'no-data', sentence: `No messages were reported over ${inDays(days)}: nothing can be said yet.` }
  }
  const share = `${percent(passRate)} of ${number(messages)} messages aligned over ${inDays(days)}`
  if (policy === null)
    return { verdict: 'enforced', sentence: `${share}: p=reject is in force${hitting(affected, 'is')}.` }
  if (messages < ENOUGH_MESSAGES || daysWithMail < ENOUGH_DAYS) {
    const sentence = `${share}, of which ${inDays(daysWithMail)} had mail: too little to tell whether p=${policy} is safe.`
    return { verdict: 'too-early', sentence }
  }
  if (passRate >= SAFE) {
    return { verdict: 'ready', sentence: `${share}: p=${policy} is safe; ${hitting(affected, 'would be')}.` }
  }
  const sentence = `${share}: p=${policy} is not safe yet; ${hitting(affected, 'would be')}.${withoutStrangers(facts, policy)}`
  return { verdict: 'not-ready', sentence }
}

/** What never aligned is often not the domain’s own mail, but only its owner knows. */
function withoutStrangers({ messages, aligned, groups }: Facts, policy: string): string {
  const failing = groups.find(({ group }) => group === 'failing')
  if (!failing || aligned / (messages - failing.messages) < SAFE) return ''
  const they =
    failing.sources === 1
      ? 'the source that never aligned is not'
      : `none of the ${number(failing.sources)} sources that never aligned is`
  return ` If ${they} yours, p=${policy} is safe.`
}

function hitting(affected: Affected, verb: 'is' | 'would be'): string {
  if (verb === 'is') return affected.length === 0 ? '' : `; it hits ${names(affected)}`
  if (affected.length === 0) return 'no source would be hit'
  const these =
    affected.length === 1
      ? 'this source'
      : affected.length < MOST_AFFECTED
        ? `these ${affected.length} sources`
        : 'these sources, and perhaps more,'
  return `${these} would be hit: ${names(affected)}`
}

function names(affected: Affected): string {
  const named = affected.slice(0, MOST_NAMED).map(({ sourceIp, name, fail }) => {
    return `${name ?? sourceIp} (${number(fail)} ${fail === 1 ? 'message' : 'messages'})`
  })
  const more = affected.length - named.length
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ')
}

function inDays(days: number): string {
  return days === 1 ? '1 day' : `${number(days)} days`
}

/** Rounded down: 99.97 % is not all of it. */
function percent(rate: number): string {
  return `${(Math.floor(rate * 1000) / 10).toFixed(1)} %`
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

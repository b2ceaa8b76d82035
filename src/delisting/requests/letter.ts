import type { ReverseDnsEvidence } from '../evidence.ts'
import type { Method } from '../steps/state-machine.ts'
import { openProblem, type Answer } from '../steps/plan.ts'

export type Letter = { subject: string; text: string }

/** What a request is written from. */
export type LetterFacts = {
  ip: string
  method: Method
  /** The list, for people and for the DNS. */
  name: string
  zone: string
  answer: Answer
  cause: string | null
  fix: string | null
  /** The list's page. */
  url: string | undefined
  /** The owner's own text, in place of what is written here. */
  ownText: string | null
  reverse: ReverseDnsEvidence | null
  /** Where the list may answer. */
  contact: string
}

/**
 * A request to be removed from a list, in plain English: for the mail we send, or for a person to send or paste. Where
 * the owner of the network alone can ask, it is for him.
 */
export function writeLetter(facts: LetterFacts): Letter {
  const subject = `Delist IP: ${facts.ip}`
  return { subject, text: facts.ownText ?? (facts.method === 'provider' ? providerText(facts) : listText(facts)) }
}

type ReminderFacts = Pick<LetterFacts, 'ip' | 'name' | 'zone' | 'answer' | 'contact'> & { requestedAt: Date | null }

/** The one reminder of a request that a list has not acted on, with what was written then. */
export function writeReminder(facts: ReminderFacts, { subject, text }: Letter): Letter {
  const { ip, name, zone, answer, requestedAt, contact } = facts
  const paragraphs = [
    'Hello,',
    `on ${requestedAt?.toISOString().slice(0, 10)} I asked you to remove ${ip} from ${name} (${zone}).`,
    listingSentence(answer),
    'Please look at it once more. What I wrote then stands below; I shall not remind you again.',
    `You reach me at ${contact}.`,
    'Thank you for your work.',
    text.replaceAll(/^/gm, '> '),
  ]
  return { subject: `Re: ${subject}`, text: paragraphs.join('\n\n') }
}

function providerText({ ip, name, zone, answer, url, contact }: LetterFacts): string {
  return [
    'Hello,',
    `${ip} lies in your network and is listed by ${name} (${zone}), where only the owner of the network can have it removed.`,
    listingSentence(answer),
    `Please see to it.${url === undefined ? '' : ` The list's page: ${url}`}`,
    `You reach me at ${contact}.`,
    'Thank you.',
  ].join('\n\n')
}

function listText({ ip, name, zone, answer, cause, fix, reverse, contact }: LetterFacts): string {
  return [
    'Hello,',
    `please remove ${ip} from ${name} (${zone}).`,
    listingSentence(answer),
    `What caused it:\n${cause ?? '[say what caused it]'}`,
    `What was done about it:\n${fix ?? '[say what was done about it, and when]'}`,
    ...reverseSentence(ip, reverse),
    `I am responsible for this address. You reach me at ${contact}.`,
    'Thank you for your work.',
  ].join('\n\n')
}

function listingSentence({ codes, reason, at }: Answer): string {
  const said = reason === null ? '' : `, with the text “${reason}”`
  return `It answers ${codes.join(', ')}${said}, last seen on ${dayAndTime(at)}.`
}

function reverseSentence(ip: string, reverse: ReverseDnsEvidence | null): string[] {
  if (reverse?.status !== 'confirmed') return []
  const { names, evidence } = reverse
  const spf = evidence?.spf === 'pass' ? [`Its SPF record permits ${ip}.`] : []
  const dmarc = evidence?.dmarc ? [`Its DMARC policy is ${evidence.dmarc}.`] : []
  return [[`Its reverse DNS is ${names[0]}, which leads back to ${ip}.`, ...spf, ...dmarc].join(' ')]
}

function dayAndTime(at: string): string {
  return `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`
}

/** What the owner is asked to say, once more where the list names something that stands open. */
export function describeConfirmation(answer: Answer): string {
  const problem = openProblem(answer)
  const asked = 'Say what caused the listing and what you did about it'
  if (problem === null) return `${asked}; then the mail is sent.`
  return `The list says that the address is ${problem}. Close it first. ${asked}, for this list; then the mail is sent.`
}

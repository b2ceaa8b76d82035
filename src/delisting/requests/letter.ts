import type { ReverseDnsEvidence } from '../evidence.ts'
import type { Method } from '../steps/methods.ts'
import { openProblem, type Answer } from '../steps/plan-steps.ts'

export type Letter = { subject: string; text: string }

/** The facts in a request. */
export type LetterFacts = {
  ip: string
  method: Method
  /** The list’s name, and its DNS zone. */
  name: string
  zone: string
  answer: Answer
  cause: string | null
  fix: string | null
  /** The list's page. */
  url: string | undefined
  /** The owner’s own text, which replaces the prepared one. */
  ownText: string | null
  reverse: ReverseDnsEvidence | null
  /** The email address for the list’s reply. */
  contact: string
}

/**
 * Writes the request to remove an address from a list: for the email that Portreeve sends, or for
 * the user to send or paste. Where only the owner of the network can request it, the text is for
 * that owner.
 */
export function writeLetter(facts: LetterFacts): Letter {
  const subject = `Delist IP: ${facts.ip}`
  return {
    subject,
    text: facts.ownText ?? (facts.method === 'provider' ? providerText(facts) : listText(facts)),
  }
}

type ReminderFacts = Pick<LetterFacts, 'ip' | 'name' | 'zone' | 'answer' | 'contact'> & {
  requestedAt: Date | null
}

/** Writes the only reminder of a request, with the request quoted below. */
export function writeReminder(facts: ReminderFacts, { subject, text }: Letter): Letter {
  const { ip, name, zone, answer, requestedAt, contact } = facts
  const paragraphs = [
    'Hello,',
    `on ${requestedAt?.toISOString().slice(0, 10)} I asked you to remove ${ip} from ${name} (${zone}).`,
    listingSentence(answer),
    'Could you please take another look? My original request is quoted below. I will not send another reminder.',
    `You can reach me at ${contact}.`,
    'Thank you for your help.',
    text.replaceAll(/^/gm, '> '),
  ]
  return { subject: `Re: ${subject}`, text: paragraphs.join('\n\n') }
}

function providerText({ ip, name, zone, answer, url, contact }: LetterFacts): string {
  return [
    'Hello,',
    `${ip} is in your network and is listed by ${name} (${zone}). Only the owner of the network can request its removal.`,
    listingSentence(answer),
    `Could you please request the removal?${url === undefined ? '' : ` The list’s page: ${url}`}`,
    `You can reach me at ${contact}.`,
    'Thank you.',
  ].join('\n\n')
}

function listText({ ip, name, zone, answer, cause, fix, reverse, contact }: LetterFacts): string {
  return [
    'Hello,',
    `please remove ${ip} from ${name} (${zone}).`,
    listingSentence(answer),
    `Cause:\n${cause ?? '[cause of the listing]'}`,
    `Fix:\n${fix ?? '[what you did to fix the cause, and when]'}`,
    ...reverseSentence(ip, reverse),
    `I operate this IP address. You can reach me at ${contact}.`,
    'Thank you for your help.',
  ].join('\n\n')
}

function listingSentence({ codes, reason, at }: Answer): string {
  const quoted = reason === null ? '' : `, with the text “${reason}”`
  return `The list returned ${codes.join(', ')}${quoted} on ${dayAndTime(at)}.`
}

function reverseSentence(ip: string, reverse: ReverseDnsEvidence | null): string[] {
  if (reverse?.status !== 'confirmed') return []
  const { names, evidence } = reverse
  const spf = evidence?.spf === 'pass' ? [`Its SPF record permits ${ip}.`] : []
  const dmarc = evidence?.dmarc ? [`Its DMARC policy is ${evidence.dmarc}.`] : []
  return [
    [`Its reverse DNS is ${names[0]}, which resolves back to ${ip}.`, ...spf, ...dmarc].join(' '),
  ]
}

function dayAndTime(at: string): string {
  return `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`
}

/** The request for cause and fix; it names the open service that the list reports. */
export function describeConfirmation(answer: Answer): string {
  const problem = openProblem(answer)
  const needed = 'Enter the cause of the listing and how you fixed it'
  if (problem === null) return `${needed}. Portreeve then sends the email.`
  return `The list reports ${problem} at this address. Close it first. ${needed}, for this list. Portreeve then sends the email.`
}

import { randomInt } from 'node:crypto'

export const TOKEN_FIELD = 'x-portreeve-canary'

const SUBJECTS = [
  'Notes from this week',
  'Your summary',
  'The schedule for the next days',
  'A short update',
  'What we agreed on',
  'Questions about the plan',
] as const

const GREETINGS = ['Hello,', 'Good morning,', 'Hi,', 'Dear colleague,'] as const

const SENTENCES = [
  'Here is the summary that you asked for.',
  'The dates of the last meeting have not changed.',
  'We moved the review to the beginning of the month.',
  'Please tell us whether the time still suits you.',
  'The list is complete now, and nothing is left to do.',
  'Two of the open questions were answered today.',
  'The rest follows as soon as the numbers are known.',
  'Nothing else has changed since the last message.',
] as const

const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T

/** A short plain text that differs from mail to mail: identical ones look automated. */
export function composeMail(): { subject: string; text: string } {
  const sentences = SENTENCES.map((text) => ({ text, key: randomInt(1_000_000) }))
    .toSorted((a, b) => a.key - b.key)
    .slice(0, 3 + randomInt(3))
    .map(({ text }) => text)
  return {
    subject: pick(SUBJECTS),
    text: `${pick(GREETINGS)}\n\n${sentences.join(' ')}\n\nKind regards\n`,
  }
}

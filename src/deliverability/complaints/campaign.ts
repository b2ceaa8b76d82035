import { createHmac } from 'node:crypto'
import { decodeWords } from '../../protocols/mail/mime-header.ts'
import { fieldValues, type Message } from '../../protocols/mail/message.ts'

/** What mails of one campaign have in common. */
export type Campaign = { kind: 'list' | 'feedback-id' | 'campaign' | 'subject'; value: string }

const MAX_CHARACTERS = 200
const HASH_CHARACTERS = 10

const FIELDS = [
  ['list', 'list-id'],
  ['feedback-id', 'feedback-id'],
  ['campaign', 'x-campaign-id'],
  ['campaign', 'x-campaignid'],
  ['campaign', 'x-campaign'],
] as const

/**
 * Finds the campaign of a mail: by List-Id (RFC 2919), Feedback-ID or a field of the sender, else by
 * its subject without numbers. A text that may name a person is stored as a hash.
 * @param key of the hashes
 */
export function campaignOf(header: Message, key: string): Campaign | null {
  for (const [kind, name] of FIELDS) {
    const value = bare(fieldValues(header, name)[0] ?? '')
    if (value !== '') return { kind, value: value.includes('@') ? hash(value, key) : value }
  }
  const subject = decodeWords(fieldValues(header, 'subject')[0] ?? '')
  const text = subject.toLowerCase().replaceAll(/\d+/g, '0').replaceAll(/\s+/g, ' ').trim()
  return text === '' ? null : { kind: 'subject', value: hash(text, key) }
}

/** The identifier of `Name <identifier>`, or the whole value; printable ASCII. */
function bare(value: string): string {
  const identifier = /<([^<>]*)>\s*$/.exec(value)?.[1] ?? value
  return identifier
    .replaceAll(/[^\x20-\x7e]/g, '')
    .trim()
    .toLowerCase()
    .slice(0, MAX_CHARACTERS)
}

function hash(text: string, key: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, HASH_CHARACTERS)
}

import { isKeyword, parseDateHeader } from '../../../net/imap/append/flags-and-dates.ts'

/** A larger header is read up to here; its other fields are kept in the message. */
export const MAX_HEADER_BYTES = 256 * 1024

/** The unfolded values of header fields by lower-case name, with one character per byte. */
export type HeaderFields = {
  /** In the order in which they occur first. */
  names: readonly string[]
  first(name: string): string | null
  all(name: string): string[]
}

/** The header of a message, up to its first blank line. */
export function headerIn(text: string): string {
  const match = /\r\n\r\n|\n\n|\r\r|\n\r\n/.exec(text)
  return match ? text.slice(0, match.index + match[0].length) : text
}

/** Parses the fields of a header with any line ends, and with one character per byte. */
export function parseHeader(raw: string): HeaderFields {
  const text = raw.replace(/(?:\r\n|\r|\n)[ \t]+/g, ' ')
  const fields = new Map<string, string[]>()
  for (const line of text.split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':')
    if (colon < 1) continue
    const name = line.slice(0, colon).trimEnd().toLowerCase()
    const values = fields.get(name)
    if (values) values.push(line.slice(colon + 1).trim())
    else fields.set(name, [line.slice(colon + 1).trim()])
  }
  return {
    names: [...fields.keys()],
    first: (name) => fields.get(name)?.[0] ?? null,
    all: (name) => fields.get(name) ?? [],
  }
}

/**
 * Behind a From_ line of an export, the last field with the state of a message that cannot be
 * written as others are: the bytes that follow are the message, whatever they look like.
 */
export const LENGTH_FIELD = 'X-Portreeve-Length'

/** Fields in which programs store the state of a message in an mbox file. */
const STATE_FIELD = new RegExp(
  `^(?:>?From [^:]|(?:Status|X-Status|X-Keywords|X-UID|X-IMAP|X-IMAPbase|X-Mozilla-Status2?|X-Mozilla-Keys|Content-Length|${LENGTH_FIELD})[ \\t]*:)`,
  'im',
)

/** Some programs quote every line that begins with `From`, the field of the author, too. */
const QUOTED_AUTHOR = /^>+From:/im

/** Whether a header of an mbox file needs no other change than CR in front of each LF. */
export function isClean(header: string): boolean {
  return !STATE_FIELD.test(header) && !/\r(?!\n)/.test(header) && !QUOTED_AUTHOR.test(header)
}

/** A header of an mbox file with CRLF line ends, without the state of the message, and unquoted. */
export function cleanHeader(header: string): string {
  const text = header.replace(/\r\n|\r|\n/g, '\r\n')
  const clean = STATE_FIELD.test(text) ? withoutState(text) : text
  return /^From:/im.test(clean) ? clean : clean.replace(QUOTED_AUTHOR, 'From:')
}

function withoutState(header: string): string {
  let isDropped = false
  const lines = header.split('\r\n')
  const end = lines.pop() ?? ''
  const kept = lines.filter((line) => {
    if (!/^[ \t]/.test(line)) isDropped = STATE_FIELD.test(line)
    return !isDropped
  })
  return kept.map((line) => `${line}\r\n`).join('') + end
}

/** The state of a message in its fields. `isExpunged`: deleted in Thunderbird, but still there. */
export type MessageState = { flags: string[]; isExpunged: boolean }

const MOZILLA = { read: 0x1, replied: 0x2, marked: 0x4, expunged: 0x8, forwarded: 0x1000 }
/** A bit of X-Mozilla-Status2: marked as deleted, as IMAP does. */
const MOZILLA_DELETED = 0x200000

/**
 * Reads the flags that programs store in mbox files: Status and X-Status, or X-Mozilla-Status. The
 * program that stored the message last puts its field in front of those of earlier copies.
 */
export function stateOf(fields: HeaderFields): MessageState {
  const flags = new Set<string>()
  const latest = fields.names.find((name) =>
    ['status', 'x-status', 'x-mozilla-status'].includes(name),
  )
  const isMozilla = latest === 'x-mozilla-status'
  const hex = (name: string) => Number.parseInt(fields.first(name) ?? '', 16) || 0
  const bits = isMozilla ? hex('x-mozilla-status') : 0
  const letters = isMozilla
    ? ''
    : `${fields.first('status') ?? ''} ${fields.first('x-status') ?? ''}`
  const has = (bit: number) => (bits & bit) !== 0
  if (letters.includes('R') || has(MOZILLA.read)) flags.add('\\Seen')
  if (letters.includes('A') || has(MOZILLA.replied)) flags.add('\\Answered')
  if (letters.includes('F') || has(MOZILLA.marked)) flags.add('\\Flagged')
  if (letters.includes('T')) flags.add('\\Draft')
  if (letters.includes('D') || (isMozilla && (hex('x-mozilla-status2') & MOZILLA_DELETED) !== 0))
    flags.add('\\Deleted')
  if (has(MOZILLA.forwarded)) flags.add('$Forwarded')
  const keywords = [fields.first('x-mozilla-keys'), fields.first('x-keywords')].join(' ')
  for (const keyword of keywords.split(/[\s,]+/)) if (isKeyword(keyword)) flags.add(keyword)
  return { flags: [...flags], isExpunged: has(MOZILLA.expunged) }
}

/** Whether a mail program has stored the message since it was exported. */
export function hasState(fields: HeaderFields): boolean {
  return fields.names.some((name) => /^(?:x-mozilla-)?status2?$/.test(name))
}

/**
 * Whether it is the one with which UW IMAP begins an mbox file, to store its own data: no mail, and
 * hidden by the programs that write it.
 */
export function isFolderData(fields: HeaderFields): boolean {
  const isNamed = /^DON'T DELETE THIS MESSAGE\b/i.test(fields.first('subject') ?? '')
  return isNamed && fields.names.some((name) => name === 'x-imap' || name === 'x-imapbase')
}

/** The date of the topmost Received field, else of the Date field, as INTERNALDATE. */
export function dateInHeader(fields: HeaderFields): string | null {
  const received = fields.first('received')
  const arrived =
    received === null ? null : parseDateHeader(received.slice(received.lastIndexOf(';') + 1))
  const sent = fields.first('date')
  return arrived ?? (sent === null ? null : parseDateHeader(sent))
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Formats milliseconds since 1970 as INTERNALDATE. */
export function internalDateOf(moment: number): string {
  const date = new Date(moment)
  const two = (number: number) => String(number).padStart(2, '0')
  const day = String(date.getUTCDate()).padStart(2)
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')
  return `${day}-${MONTHS[date.getUTCMonth()]}-${String(date.getUTCFullYear()).padStart(4, '0')} ${time} +0000`
}

import { isUserFlag } from '../../../net/imap/append/flags-and-dates.ts'
import type { IncomingMeta } from '../store.ts'

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The From_ line of a message and the fields with its state. */
export function mboxHead({ flags, moment }: IncomingMeta): string {
  const date = new Date(moment)
  const two = (number: number) => String(number).padStart(2, '0')
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')
  const day = `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)}`
  const has = (flag: string, letter: string) => (flags.includes(flag) ? letter : '')
  const other = `${has('\\Answered', 'A')}${has('\\Flagged', 'F')}${has('\\Draft', 'T')}${has('\\Deleted', 'D')}`
  const keywords = flags.filter(isUserFlag).join(' ')
  return [
    `From MAILER-DAEMON ${day} ${time} ${date.getUTCFullYear()}`,
    `Status: ${has('\\Seen', 'R')}O`,
    ...(other === '' ? [] : [`X-Status: ${other}`]),
    ...(keywords === '' ? [] : [`X-Keywords: ${keywords}`]),
    '',
  ].join('\n')
}

const QUOTABLE = /^(>*From )/gm

/**
 * Converts a message for an mbox file: LF line ends, and one more `>` in front of `From `, `>From `
 * and so on (mboxrd). It ends with a blank line.
 */
export function* mboxBody(parts: Iterable<Buffer>): Generator<Buffer> {
  let rest = ''
  for (const part of parts) {
    rest += part.toString('latin1')
    // Only whole lines are converted, because CRLF and `From ` can be divided between two parts.
    const end = rest.lastIndexOf('\n') + 1
    if (end === 0) continue
    yield convert(rest.slice(0, end))
    rest = rest.slice(end)
  }
  yield convert(rest === '' ? '\n' : `${rest}\n\n`)
}

function convert(text: string): Buffer {
  return Buffer.from(text.replaceAll('\r\n', '\n').replace(QUOTABLE, '>$1'), 'latin1')
}

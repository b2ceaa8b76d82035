import { isUserFlag } from '../../../net/imap/append/flags-and-dates.ts'
import type { IncomingMeta } from '../mail-files.sql.ts'
import { LENGTH_FIELD } from './header.ts'

const LF = 0x0a
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * How a message is written. `counted` and `raw` are for messages that an mbox file would change: with
 * fields of mail programs, or without a line end, for example. `raw`: with the line ends it has.
 */
export const MBOX_FORMS = ['plain', 'counted', 'raw'] as const
export type MboxForm = (typeof MBOX_FORMS)[number]

/** Writes a message in parts: mboxrd, with LF line ends. */
export function* mboxMessage(
  meta: IncomingMeta,
  form: MboxForm,
  read: () => Iterable<Buffer>,
): Generator<Buffer> {
  const content = () => (form === 'raw' ? read() : withLf(read(), true))
  if (form === 'plain') yield Buffer.from(mboxHead(meta, ''))
  else {
    let bytes = 0
    for (const part of content()) bytes += part.length
    const suffix = form === 'raw' ? '; raw' : ''
    yield Buffer.from(mboxHead(meta, `${LENGTH_FIELD}: ${bytes}${suffix}\n`))
  }
  let last = LF
  for (const part of content()) {
    last = part.at(-1) ?? last
    yield part
  }
  yield Buffer.from(last === LF ? '\n' : '\n\n')
}

/** The From_ line of a message and the fields with its state. */
function mboxHead({ flags, moment }: IncomingMeta, lengthField: string): string {
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
    lengthField,
  ].join('\n')
}

/** At the beginning of a line; not more than a reader takes for quoting. */
const QUOTABLE = /(?<![^\n])(>{0,255}From )/g

/**
 * Converts a message to LF line ends. A CR in front of CRLF stays, with both.
 * @param isQuoting adds a `>` in front of `From `, `>From ` and so on (mboxrd)
 */
export function* withLf(parts: Iterable<Buffer>, isQuoting: boolean): Generator<Buffer> {
  let rest = ''
  const convert = (text: string) => {
    const converted = text.replace(/(?<!\r)\r\n/g, '\n')
    return Buffer.from(isQuoting ? converted.replace(QUOTABLE, '>$1') : converted, 'latin1')
  }
  for (const part of parts) {
    rest += part.toString('latin1')
    // Only whole lines are converted, because CRLF and `From ` can be divided between two parts.
    const end = rest.lastIndexOf('\n') + 1
    if (end === 0) continue
    yield convert(rest.slice(0, end))
    rest = rest.slice(end)
  }
  if (rest !== '') yield convert(rest)
}

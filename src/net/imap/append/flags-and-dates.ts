import { IMAP_LIMITS } from '../limits.ts'
import { DAY_MS, MINUTE_MS } from '../../../time.ts'

/** The system flags (RFC 3501, 2.3.2). Only the server may set `\Recent`. */
const SYSTEM_FLAGS = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'] as const
const SYSTEM_FLAG = new Map(SYSTEM_FLAGS.map((flag) => [flag.toLowerCase(), flag as string]))

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The flags of a message that may be sent, in canonical spelling, and those that may not. */
export type StorableFlags = { flags: string[]; dropped: string[] }

/**
 * Selects the five system flags and the keywords that are atoms, as far as the folder stores them,
 * each once in any case (RFC 9051, 2.3.2): Dovecot drops what follows a keyword in a second spelling.
 * Nothing else may reach an APPEND: a server that answers BAD reads the following message as
 * commands.
 * @param permanent PERMANENTFLAGS of the destination folder; null when it reported none, which
 *   allows all (RFC 3501, 7.1)
 */
export function storableFlags(
  flags: readonly string[],
  permanent: readonly string[] | null,
): StorableFlags {
  const kept = new Map<string, string>()
  const dropped: string[] = []
  const allowed = permanent && lowerCased(permanent)
  const free = !allowed || allowed.has('\\*')
  for (const flag of flags) {
    const name = flag.toLowerCase()
    const spelling = SYSTEM_FLAG.get(name) ?? (isKeyword(flag) ? flag : undefined)
    if (
      spelling !== undefined &&
      (allowed?.has(name) || (free && (!allowed || !name.startsWith('\\'))))
    ) {
      if (!kept.has(name)) kept.set(name, spelling)
    } else if (name !== '\\recent') dropped.push(flag)
  }
  return { flags: [...kept.values()].toSorted(), dropped }
}

/** The flags of a folder in lower case. They are the same array for all of its messages. */
function lowerCased(flags: readonly string[]): ReadonlySet<string> {
  const known = lowerCasedFlags.get(flags) ?? new Set(flags.map((flag) => flag.toLowerCase()))
  lowerCasedFlags.set(flags, known)
  return known
}

const lowerCasedFlags = new WeakMap<readonly string[], ReadonlySet<string>>()

/** Whether a folder stores all system flags: then only keywords can be dropped. */
export function storesSystemFlags(permanent: readonly string[] | null): boolean {
  if (permanent === null) return true
  const allowed = lowerCased(permanent)
  return SYSTEM_FLAG.keys().every((flag) => allowed.has(flag))
}

/**
 * Whether a flag is a flag-keyword (RFC 3501, 9: an atom) of acceptable length. `NIL` would not be
 * read as an atom.
 */
export function isKeyword(flag: string): boolean {
  return (
    /^[!#-$&'+-Z^-z|}~[]+$/.test(flag) &&
    flag.length <= IMAP_LIMITS.keywordChars &&
    flag.toUpperCase() !== 'NIL'
  )
}

/** Whether a flag is a keyword of the user and not a system flag. */
export function isUserFlag(flag: string): boolean {
  return !flag.startsWith('\\')
}

/** Whether a flag is one of the five system flags that a client may set. */
export function isSystemFlag(flag: string): boolean {
  return SYSTEM_FLAG.has(flag.toLowerCase())
}

/**
 * Parses an INTERNALDATE strictly and serializes it as RFC 3501 requires, `" 1-Jul-2024 08:09:10
 * +0200"` without quotes: a valid day and time of any year, with its zone. Some servers send the form
 * of RFC 5322. Null for anything else.
 */
export function serialiseDate(raw: string): string | null {
  if (parseUsualDate(raw)) return raw.startsWith('0') ? ` ${raw.slice(1)}` : raw
  const match =
    /^ ?(\d{1,2})-([A-Za-z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2})(?: ([+-]\d{4}|GMT|UTC?))?$/.exec(
      raw,
    )
  if (!match) return parseHeaderForm(raw, ANY_TIME)
  const [, day, name = '', year, hour, minute, second, zone] = match
  const fields = { year, month: monthOf(name), day, hour, minute, second, zone: numericZone(zone) }
  return formatDate(fields, ANY_TIME)
}

type UsualDate = Day & { hour: number; minute: number; second: number; offsetMs: number }

/**
 * Parses a valid date in the form that nearly all servers send, with a space or a zero before a day
 * of one digit; null for any other. Without a regular expression, because it runs several times for
 * each message.
 */
function parseUsualDate(text: string): UsualDate | null {
  if (text.length !== '01-Jul-2024 08:09:10 +0200'.length || !hasUsualSeparators(text)) return null
  const day = text[0] === ' ' ? digitAt(text, 1) : twoDigitsAt(text, 0)
  const month = MONTHS.indexOf(text.slice(3, 6))
  const year = twoDigitsAt(text, 7) * 100 + twoDigitsAt(text, 9)
  const hour = twoDigitsAt(text, 12)
  const minute = twoDigitsAt(text, 15)
  const second = twoDigitsAt(text, 18)
  const zoneHours = twoDigitsAt(text, 22)
  const zoneMinutes = twoDigitsAt(text, 24)
  // A comparison with NaN is false.
  const isValid =
    day >= 1 &&
    day <= daysIn(month, year) &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    zoneHours <= 14 &&
    zoneMinutes <= 59
  if (!isValid) return null
  const offsetMs = (zoneHours * 60 + zoneMinutes) * MINUTE_MS * (text[21] === '-' ? -1 : 1)
  return { year, month, day, hour, minute, second, offsetMs }
}

function hasUsualSeparators(text: string): boolean {
  return (
    text[2] === '-' &&
    text[6] === '-' &&
    text[11] === ' ' &&
    text[14] === ':' &&
    text[17] === ':' &&
    text[20] === ' ' &&
    (text[21] === '+' || text[21] === '-')
  )
}

function twoDigitsAt(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1)
}

/** NaN for anything but a digit. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30
  return digit >= 0 && digit <= 9 ? digit : NaN
}

/**
 * Parses the `Date:` header of a message likewise (RFC 5322, 3.3, with the zones of 4.3). Null for
 * dates before 1900 or after tomorrow, which are invented.
 */
export function parseDateHeader(header: string, now = Date.now()): string | null {
  return parseHeaderForm(header, { from: 1900, to: now + DAY_MS })
}

function parseHeaderForm(header: string, span: Span): string | null {
  const text = header
    .replace(/\([^()]*\)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const match =
    /^(?:[A-Za-z]{3,9}, ?)?(\d{1,2}) ([A-Za-z]{3})[a-z]* (\d{4}) (\d{1,2}):(\d{2})(?::(\d{2}))? ?([+-]\d{4}|[A-Z]{1,3})?/.exec(
      text,
    )
  const groups = match ? match.slice(1) : partsOfAsctime(text)
  if (!groups) return null
  const [day, name = '', year, hour, minute, second = '00', zone] = groups
  return formatDate(
    { year, month: monthOf(name), day, hour, minute, second, zone: numericZone(zone) },
    span,
  )
}

/** `Thu Oct 28 17:00:38 2004 -0400`, as Eudora wrote it. */
function partsOfAsctime(text: string): (string | undefined)[] | null {
  const match =
    /^[A-Za-z]{3},? ([A-Za-z]{3}) (\d{1,2}) (\d{1,2}):(\d{2}):(\d{2}) (\d{4}) ?([+-]\d{4}|[A-Z]{1,3})?/.exec(
      text,
    )
  if (!match) return null
  const [, name, day, hour, minute, second, year, zone] = match
  return [day, name, year, hour, minute, second, zone]
}

function monthOf(name: string): number {
  return MONTHS.indexOf(name.charAt(0).toUpperCase() + name.slice(1).toLowerCase())
}

/**
 * Whether a date is one that not every server can store: before the epoch, in the future, or beyond
 * 32 bits. Courier rejects the first, Cyrus answers BAD, and Dovecot changes them.
 */
export function isUnusualDate(serialised: string): boolean {
  const now = Date.now()
  const year = Number(serialised.slice(7, 11))
  if (year > 1970 && year < new Date(now).getUTCFullYear()) return false
  const moment = epochMsOf(serialised)
  return moment === null || moment < 0 || moment > now
}

/** Milliseconds since 1970 of a received or sent date; null for an invalid one. */
export function epochMsOf(raw: string): number | null {
  const date = parseUsualDate(raw) ?? parseUsualDate(serialiseDate(raw) ?? '')
  return date && utcMs(date, date.hour, date.minute, date.second) - date.offsetMs
}

type Fields = Record<'year' | 'day' | 'hour' | 'minute' | 'second', string | undefined> & {
  month: number
  zone: string
}

/** The first year, and the last time in milliseconds since 1970. */
type Span = { from: number; to: number }
const ANY_TIME: Span = { from: 0, to: Infinity }

/** Without a `Date`, because it runs several times for each message. */
function formatDate(fields: Fields, { from, to }: Span): string | null {
  const { month, zone } = fields
  const [year, day, hour] = [Number(fields.year), Number(fields.day), Number(fields.hour)]
  const [minute, second] = [Number(fields.minute), Number(fields.second)]
  if (month < 0 || year < from || hour > 23 || minute > 59 || second > 60) return null
  if (day < 1 || day > daysIn(month, year)) return null
  const seconds = Math.min(second, 59)
  const offset = offsetOf(zone)
  if (offset === null) return null
  if (to !== Infinity && utcMs({ year, month, day }, hour, minute, seconds) - offset > to)
    return null
  const time = `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(seconds)}`
  return `${String(day).padStart(2)}-${MONTHS[month]}-${String(year).padStart(4, '0')} ${time} ${zone}`
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** @param month from 0 */
function daysIn(month: number, year: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 1 && isLeap ? 29 : (DAYS[month] ?? 0)
}

type Day = { year: number; month: number; day: number }

/** `Date.UTC` maps the years 0 to 99 to 1900 to 1999. */
function utcMs({ year, month, day }: Day, hour: number, minute: number, second: number): number {
  if (year > 99) return Date.UTC(year, month, day, hour, minute, second)
  return new Date(0).setUTCFullYear(year, month, day) + Date.UTC(1970, 0, 1, hour, minute, second)
}

/** Milliseconds east of UTC. */
function offsetOf(zone: string): number | null {
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3))]
  if (hours > 14 || minutes > 59) return null
  return (hours * 60 + minutes) * MINUTE_MS * (zone.startsWith('-') ? -1 : 1)
}

const NAMED_ZONES: Record<string, string> = {
  EST: '-0500',
  EDT: '-0400',
  CST: '-0600',
  CDT: '-0500',
  MST: '-0700',
  MDT: '-0600',
  PST: '-0800',
  PDT: '-0700',
}

function numericZone(zone: string | undefined): string {
  if (zone === undefined) return '+0000'
  return /^[+-]/.test(zone) ? zone : (NAMED_ZONES[zone] ?? '+0000')
}

import { LIMITS } from './limits.ts'

/** RFC 3501, 2.3.2. `\Recent` is the server's own and may never be sent. */
const SYSTEM_FLAGS = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'] as const
const SYSTEM_FLAG = new Map(SYSTEM_FLAGS.map((flag) => [flag.toLowerCase(), flag as string]))

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY_MS = 86_400_000

/** What of a message's flags may be sent, in the one spelling we send; and what may not. */
export type StorableFlags = { flags: string[]; dropped: string[] }

/**
 * The five system flags in exact case and the keywords that are atoms, as far as the folder keeps them. Nothing else
 * may reach an APPEND: a server that answers BAD reads the message after it as commands.
 * @param permanent PERMANENTFLAGS of the destination folder; null when it named none, which allows all (RFC 3501, 7.1)
 */
export function storableFlags(flags: readonly string[], permanent: readonly string[] | null): StorableFlags {
  const kept = new Set<string>()
  const dropped: string[] = []
  const allowed = permanent && new Set(permanent.map((flag) => flag.toLowerCase()))
  const free = !allowed || allowed.has('\\*')
  for (const flag of flags) {
    const name = flag.toLowerCase()
    const spelling = SYSTEM_FLAG.get(name) ?? (isKeyword(flag) ? flag : undefined)
    if (spelling !== undefined && (allowed?.has(name) || (free && (!allowed || !name.startsWith('\\'))))) {
      kept.add(spelling)
    } else if (name !== '\\recent') dropped.push(flag)
  }
  return { flags: [...kept].toSorted(), dropped }
}

/** A flag-keyword (RFC 3501, 9: an atom) of bearable length. `NIL` would be read as no atom. */
export function isKeyword(flag: string): boolean {
  return /^[!#-$&'+-Z^-z|}~[]+$/.test(flag) && flag.length <= LIMITS.keyword && flag.toUpperCase() !== 'NIL'
}

/** Whether a flag is one of the user's words rather than one of the five. */
export function isUserFlag(flag: string): boolean {
  return !flag.startsWith('\\')
}

/**
 * Reads an INTERNALDATE strictly and writes it as RFC 3501 wants it, `" 1-Jul-2024 08:09:10 +0200"` without quotes:
 * a real day and time, from 1900 to tomorrow, zone kept. Null for everything else.
 */
export function serialiseDate(raw: string, now = Date.now()): string | null {
  const match = /^ ?(\d{1,2})-([A-Za-z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2})(?: ([+-]\d{4}))?$/.exec(raw)
  if (!match) return null
  const [, day, name = '', year, hour, minute, second, zone = '+0000'] = match
  const month = MONTHS.findIndex((known) => known.toLowerCase() === name.toLowerCase())
  return written({ year, month, day, hour, minute, second, zone }, now)
}

/** The same from a message's `Date:` header (RFC 5322, 3.3, with the zones of its 4.3); null when it is no real date. */
export function dateOfHeader(header: string, now = Date.now()): string | null {
  const text = header
    .replace(/\([^()]*\)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const match =
    /^(?:[A-Za-z]{3,9}, ?)?(\d{1,2}) ([A-Za-z]{3})[a-z]* (\d{4}) (\d{1,2}):(\d{2})(?::(\d{2}))? ?([+-]\d{4}|[A-Z]{1,3})?/.exec(
      text,
    )
  if (!match) return null
  const [, day, name = '', year, hour, minute, second = '00', zone] = match
  const month = MONTHS.findIndex((known) => known.toLowerCase() === name.toLowerCase())
  return written({ year, month, day, hour, minute, second, zone: numericZone(zone) }, now)
}

/** Dates before the epoch are real, but not every server can keep one. */
export function isUnusualDate(serialised: string): boolean {
  return Number(serialised.slice(7, 11)) < 1970
}

type Fields = Record<'year' | 'day' | 'hour' | 'minute' | 'second', string | undefined> & {
  month: number
  zone: string
}

function written(fields: Fields, now: number): string | null {
  const [year, day, hour, minute, second] = [fields.year, fields.day, fields.hour, fields.minute, fields.second].map(
    Number,
  ) as [number, number, number, number, number]
  const { month, zone } = fields
  if (month < 0 || year < 1900 || hour > 23 || minute > 59 || second > 60) return null
  const local = new Date(Date.UTC(year, month, day, hour, minute, Math.min(second, 59)))
  if (local.getUTCDate() !== day || local.getUTCMonth() !== month) return null
  const offset = offsetOf(zone)
  if (offset === null || local.getTime() - offset > now + DAY_MS) return null
  const time = [hour, minute, Math.min(second, 59)].map((n) => String(n).padStart(2, '0')).join(':')
  return `${String(day).padStart(2)}-${MONTHS[month]}-${year} ${time} ${zone}`
}

/** Milliseconds east of Greenwich. */
function offsetOf(zone: string): number | null {
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3))]
  if (hours > 14 || minutes > 59) return null
  return (hours * 60 + minutes) * 60_000 * (zone.startsWith('-') ? -1 : 1)
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

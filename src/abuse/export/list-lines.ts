import { HOUR_MS } from '../../time.ts'
import type { Entry, ListFacts } from './entry.ts'

/** Entries per piece, which takes a few milliseconds. */
const ENTRIES_PER_PIECE = 1_000

/**
 * Hours after which entries expire in a firewall that gets no new list, so that an unavailable
 * service does not block forever.
 */
export const LIFETIME_HOURS = 26

export const isIPv6 = ({ address }: Pick<Entry, 'address'>) => address.includes(':')

export function* pieces<T>(entries: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < entries.length; start += ENTRIES_PER_PIECE)
    yield entries.slice(start, start + ENTRIES_PER_PIECE)
}

export function* lines<T>(entries: readonly T[], line: (entry: T) => string): Generator<string> {
  for (const piece of pieces(entries)) yield piece.map((entry) => `${line(entry)}\n`).join('')
}

/** The items of a JSON array, without its brackets. */
export function* jsonItems<T>(
  entries: readonly T[],
  itemOf: (entry: T) => unknown,
): Generator<string> {
  let separator = ''
  for (const piece of pieces(entries)) {
    yield separator + piece.map((entry) => JSON.stringify(itemOf(entry))).join(',')
    separator = ','
  }
}

export function comment({ version, generatedAt }: ListFacts, usage: string): string {
  return `# Portreeve list ${version}, ${generatedAt.toISOString()}\n# ${usage}\n`
}

/** The date on which it was last seen. A time would identify a line of a server’s log. */
export const hourOf = (date: Date) =>
  new Date(Math.floor(date.getTime() / HOUR_MS) * HOUR_MS).toISOString()

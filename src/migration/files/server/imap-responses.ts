import { formatUidSet } from '../../../net/imap/connection/command-encoding.ts'
import { epochMsOf } from '../../../net/imap/append/flags-and-dates.ts'
import { decodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import type { IncomingMeta, StoredMessage, StoreFolder } from '../mail-files.sql.ts'

const PERMANENT_FLAGS = '\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*'

export const pathOf = (name: string) =>
  name.toUpperCase() === 'INBOX' ? 'INBOX' : decodeMailbox(name)

export const quoted = (name: string) => `"${name.replace(/["\\]/g, '\\$&')}"`

export function statusLine(
  name: string,
  { messages, uidNext, uidValidity, bytes }: StoreFolder,
): string {
  return `* STATUS ${quoted(name)} (MESSAGES ${messages.length} UNSEEN 0 UIDNEXT ${uidNext} UIDVALIDITY ${uidValidity} SIZE ${bytes})\r\n`
}

export function openingLines(
  { messages, uidNext, uidValidity }: StoreFolder,
  hasFlags: boolean,
): string {
  return [
    `* ${messages.length} EXISTS`,
    `* OK [UIDVALIDITY ${uidValidity}] UIDs valid.`,
    `* OK [UIDNEXT ${uidNext}] Next UID.`,
    `* OK [PERMANENTFLAGS (${hasFlags ? PERMANENT_FLAGS : ''})] Flags stored.`,
    '',
  ].join('\r\n')
}

/** `UID SEARCH RETURN (ALL) UID 1:5`, or `ALL`. */
export function searchLine(folder: StoreFolder | null, criteria: string): string {
  const [, set] = /\bUID (\S+)$/.exec(criteria) ?? []
  const [first = [1, Infinity]] = set === undefined ? [] : rangesOf(set)
  const uids = (folder?.messages ?? [])
    .map(({ uid }) => uid)
    .filter((uid) => uid >= (first[0] ?? 1) && uid <= (first[1] ?? Infinity))
  return uids.length === 0 ? '* ESEARCH UID\r\n' : `* ESEARCH UID ALL ${formatUidSet(uids)}\r\n`
}

export function rangesOf(set: string): [from: number, to: number][] {
  return set.split(',').map((range) => {
    const [from = '', to = from] = range.split(':')
    return [Number(from), to === '*' ? Infinity : Number(to)]
  })
}

/** The index of the first message with this UID or a larger one. */
export function firstFrom(messages: readonly StoredMessage[], uid: number): number {
  let [low, high] = [0, messages.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((messages[middle]?.uid ?? 0) < uid) low = middle + 1
    else high = middle
  }
  return low
}

export function rowOf(number: number, message: StoredMessage, isHeader: boolean): string {
  const { uid, flags, date, size, messageId } = message
  const when = date === null ? 'NIL' : `"${date}"`
  const head = `* ${number} FETCH (UID ${uid} FLAGS (${flags.join(' ')}) INTERNALDATE ${when} RFC822.SIZE ${size}`
  if (!isHeader) return `${head})\r\n`
  const field = messageId === null ? '\r\n' : `Message-ID: ${messageId}\r\n\r\n`
  return `${head} BODY[HEADER.FIELDS (MESSAGE-ID)] {${field.length}}\r\n${field})\r\n`
}

/** The flags and the date in front of the last literal: ` (\Seen) " 1-Jul-2024 …" {}`. */
export function metaOf(before: string): IncomingMeta {
  const [, flags = '', date] = /\(([^()]*)\)(?: "([^"]*)")? ~?\{\}$/.exec(before) ?? []
  const moment = date === undefined ? null : epochMsOf(date)
  return { flags: flags.split(' ').filter(Boolean), moment: moment ?? Date.now() }
}

import { ImapLost } from './refusals.ts'
import { isSendable, type ByteString } from '../folders/mailbox-name.ts'

/** A part of a command after its tag: text with one character per byte, or a literal. */
export type CommandPart = string | Buffer

/**
 * Encodes a string byte for byte: quoted, or as a literal where quoting is not allowed or servers
 * are known to misread it.
 * @throws ImapLost `ours` for text that no string can contain
 */
export function astring(text: ByteString): CommandPart {
  if (!isSendable(text)) throw new ImapLost('ours', 'A name with CR, LF or NUL was not sent.')
  return /["\\]|[^\x20-\x7e]/.test(text) ? Buffer.from(text, 'latin1') : `"${text}"`
}

/** Formats ascending UIDs as a set: `1:3,7`. */
export function formatUidSet(uids: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const uid of uids) {
    const last = ranges.at(-1)
    if (last && uid === last[1] + 1) last[1] = uid
    else ranges.push([uid, uid])
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}:${to}`)).join(',')
}

/** Whether a value would end its command: a line break injects a command, NUL is not allowed. */
export function breaksCommand(value: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\0\r\n]/.test(value)
}

/**
 * Parses a set of UIDs, such as in APPENDUID, in its order. Null when it is invalid or has more
 * than `maxUids`.
 */
export function parseUidList(set: string, maxUids: number): number[] | null {
  const uids: number[] = []
  for (const range of set.split(',')) {
    const match = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(range)
    if (!match) return null
    const [from, to] = [Number(match[1]), Number(match[2] ?? match[1])].toSorted(
      (a, b) => a - b,
    ) as [number, number]
    if (to - from + 1 > maxUids - uids.length) return null
    for (let uid = from; uid <= to; uid++) uids.push(uid)
  }
  return uids
}

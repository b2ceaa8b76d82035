import { hash } from 'node:crypto'
import { epochMsOf } from '../../../net/imap/append/flags-and-dates.ts'
import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { messageIdOf } from '../identify/message-fingerprint.ts'

/**
 * What the journal has about one copied message: with it, the message is recognised after it was
 * moved, and its copy can be changed or compared.
 */
export type CopyRecord = {
  /** UID at the source. */
  uid: number
  /** UID of the copy; 0 where the destination did not report it. */
  to: number
  /** Bytes that were sent. */
  size: number
  /** The source’s flags that the copy has, as bits (`flagBits`). */
  flags: number
  /** The source’s date in seconds since 1970; 0 where it has none. */
  date: number
  /** Hash of the Message-ID; empty where it has none. */
  messageId: Buffer
  /** Hash of the source’s identifier of the message; empty where it has none. */
  objectId: Buffer
  /** SHA-256 of the bytes that the source returned; empty where it is not known. */
  digest: Buffer
}

const HASH_BYTES = 8
const DIGEST_BYTES = 32
/** Bytes of a packed record: 100,000 messages need 7 MB. */
const RECORD_BYTES = 5 * 4 + 2 * HASH_BYTES + DIGEST_BYTES
/** Replaced records that are always left: packing again costs a transaction. */
const MIN_WASTE_BYTES = 64 * 1024
const NONE = Buffer.alloc(0)

/** Packs records for the journal. */
export function packRecords(records: readonly CopyRecord[]): Buffer {
  const packed = Buffer.alloc(records.length * RECORD_BYTES)
  records.forEach((record, index) => {
    let at = index * RECORD_BYTES
    for (const number of [record.uid, record.to, record.size, record.flags, record.date])
      at = packed.writeUInt32LE(Math.min(number, 0xffffffff), at)
    record.messageId.copy(packed, at)
    record.objectId.copy(packed, at + HASH_BYTES)
    record.digest.copy(packed, at + 2 * HASH_BYTES)
  })
  return packed
}

function unpack(packed: Buffer, index: number): CopyRecord {
  const start = index * RECORD_BYTES
  const number = (place: number) => packed.readUInt32LE(start + 4 * place)
  const bytes = (from: number, length: number) => {
    const found = packed.subarray(start + from, start + from + length)
    return found.some((byte) => byte !== 0) ? found : NONE
  }
  return {
    uid: number(0),
    to: number(1),
    size: number(2),
    flags: number(3),
    date: number(4),
    messageId: bytes(20, HASH_BYTES),
    objectId: bytes(20 + HASH_BYTES, HASH_BYTES),
    digest: bytes(20 + 2 * HASH_BYTES, DIGEST_BYTES),
  }
}

/** Whether so many records were replaced that it is worth to pack them again. */
export function isWasteful(packed: Buffer, { size }: CopyRecords): boolean {
  return packed.length > 2 * size * RECORD_BYTES + MIN_WASTE_BYTES
}

/** Unpacks one record. */
export function unpackRecord(packed: Buffer): CopyRecord {
  return unpack(packed, 0)
}

/** The packed records of a folder by UID. A later record replaces an earlier one. */
export type CopyRecords = {
  readonly size: number
  get(uid: number): CopyRecord | null
  [Symbol.iterator](): Iterator<CopyRecord>
}

/** Reads packed records. They stay packed, because there can be hundreds of thousands. */
export function readRecords(packed: Buffer): CopyRecords {
  const uidAt = (index: number) => packed.readUInt32LE(index * RECORD_BYTES)
  const all = Uint32Array.from({ length: packed.length / RECORD_BYTES }, (_, index) => index)
  all.sort((a, b) => uidAt(a) - uidAt(b) || a - b)
  const uidOf = (index: number | undefined) => (index === undefined ? Infinity : uidAt(index))
  const latest = all.filter((index, place) => uidOf(all[place + 1]) !== uidAt(index))
  return {
    size: latest.length,
    get(uid) {
      let [low, high] = [0, latest.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if (uidOf(latest[middle]) < uid) low = middle + 1
        else high = middle
      }
      const index = latest[low]
      return index !== undefined && uidAt(index) === uid ? unpack(packed, index) : null
    },
    *[Symbol.iterator]() {
      for (const index of latest) yield unpack(packed, index)
    },
  }
}

/** Composes the record of a message. */
export function recordOf(
  { uid, messageIds, objectId, internalDate, flags }: Metadata,
  { to, size, digest }: { to: number | null; size: number; digest: Buffer | null },
  keywords: string[],
): CopyRecord {
  const id = messageIdOf(messageIds)
  return {
    uid,
    to: to ?? 0,
    size,
    flags: flagBits(flags, keywords),
    date: secondsOf(internalDate),
    messageId: id === null ? NONE : shortHash(id),
    objectId: objectId === null ? NONE : shortHash(objectId),
    digest: digest ?? NONE,
  }
}

function shortHash(text: string): Buffer {
  return hash('sha256', text, 'buffer').subarray(0, HASH_BYTES)
}

function secondsOf(date: string | null): number {
  const moment = date === null ? null : epochMsOf(date)
  return moment === null || moment < 0 ? 0 : Math.floor(moment / 1_000)
}

const SYSTEM_FLAGS = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft']
const FIRST_KEYWORD_BIT = 8
/** Keywords of a folder beyond this number are not followed. */
const MAX_KEYWORDS = 32 - FIRST_KEYWORD_BIT

/**
 * The flags as bits: system flags first, then keywords in the order of the list, to which further
 * ones are added.
 */
export function flagBits(flags: readonly string[], keywords: string[]): number {
  let bits = 0
  for (const flag of flags) {
    const bit = bitOf(flag, keywords)
    if (bit !== null) bits |= 1 << bit
  }
  return bits >>> 0
}

function bitOf(flag: string, keywords: string[]): number | null {
  const name = flag.toLowerCase()
  const system = SYSTEM_FLAGS.findIndex((known) => known.toLowerCase() === name)
  if (system !== -1) return system
  if (flag.startsWith('\\')) return null
  const known = keywords.findIndex((keyword) => keyword.toLowerCase() === name)
  if (known !== -1) return FIRST_KEYWORD_BIT + known
  if (keywords.length >= MAX_KEYWORDS) return null
  keywords.push(flag)
  return FIRST_KEYWORD_BIT + keywords.length - 1
}

/** The flags of bits. */
export function flagsOf(bits: number, keywords: readonly string[]): string[] {
  const isSet = (bit: number) => ((bits >>> bit) & 1) === 1
  return [
    ...SYSTEM_FLAGS.filter((_, bit) => isSet(bit)),
    ...keywords.filter((_, index) => isSet(FIRST_KEYWORD_BIT + index)),
  ]
}

/** Bytes of a WAL segment, the default of PostgreSQL. */
export const SEGMENT_BYTES = 16n * 1024n * 1024n

/** Segments whose names share the second part. */
const SEGMENTS_PER_ID = 0x1_0000_0000n / SEGMENT_BYTES

/** Parses a position in the WAL, such as `16/B374D848`. */
export function parseLsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export function formatLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16).toUpperCase()}/${(lsn & 0xffffffffn).toString(16).toUpperCase()}`
}

/** The number of the segment that contains a position. */
export const segmentOf = (lsn: bigint): bigint => lsn / SEGMENT_BYTES

/** The position at which a segment begins. */
export const startOf = (segment: bigint): bigint => segment * SEGMENT_BYTES

/** The file name of a segment: timeline and number in hexadecimal. */
export function segmentName(timeline: number, segment: bigint): string {
  const parts = [BigInt(timeline), segment / SEGMENTS_PER_ID, segment % SEGMENTS_PER_ID]
  return parts.map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('')
}

/** The number of the segment with this file name. */
export function segmentNumber(name: string): bigint {
  return BigInt(`0x${name.slice(8, 16)}`) * SEGMENTS_PER_ID + BigInt(`0x${name.slice(16, 24)}`)
}

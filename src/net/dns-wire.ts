import { randomInt } from 'node:crypto'
import packet, {
  type Answer as PacketAnswer,
  type DecodedPacket,
  type RecordType as PacketType,
} from 'dns-packet'
import type { DnsFailure, DnsRecord, QueryOptions, RecordType } from './dns-record.ts'

/** RFC 9715: the size that fits an unfragmented datagram on every path. */
const UDP_PAYLOAD_BYTES = 1232
const HEADER_BYTES = 12
/**
 * Some resolvers follow no more aliases than this, and answer with those alone. An answer that the
 * end of a chain has no records has an SOA record (RFC 2308, 2.2).
 */
const MIN_CUT_CHAIN = 7

/** The content of a packet that is known to answer the query. */
export type Reading =
  | {
      status: 'NOERROR' | 'NXDOMAIN'
      records: DnsRecord[]
      cnames: string[]
      ttl: number
      isAuthenticated: boolean
      isAuthoritative: boolean
    }
  | { failure: DnsFailure }

/**
 * A query packet whose id is still to be drawn, or null when the name cannot exist (RFC 1035,
 * 2.3.4).
 */
export function encodeQuery(
  name: string,
  type: RecordType,
  { edns, checkingDisabled = false, recursionDesired = true }: QueryOptions & { edns: boolean },
): Buffer | null {
  if (!isWireName(name)) return null
  return packet.encode({
    type: 'query',
    // RFC 6840, 5.7: AD in a query asks for the AD bit of the answer.
    flags:
      packet.AUTHENTIC_DATA |
      (recursionDesired ? packet.RECURSION_DESIRED : 0) |
      (checkingDisabled ? packet.CHECKING_DISABLED : 0),
    // Type 99 (SPF) is known to dns-packet, but not to its types.
    questions: [{ name, type: type as PacketType, class: 'IN' }],
    additionals: edns ? [OPT] : [],
  })
}

const OPT: PacketAnswer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: UDP_PAYLOAD_BYTES,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
}

/** 253 characters are 255 bytes on the wire: a length before each label and the root's zero. */
function isWireName(name: string): boolean {
  return name === '.' || (LABELS.test(name) && name.length <= (name.endsWith('.') ? 254 : 253))
}

const LABELS = /^[\x20-\x2d\x2f-\x7e]{1,63}(?:\.[\x20-\x2d\x2f-\x7e]{1,63})*\.?$/

/** Draws a random id that no `taken` packet has, and writes it into the query. */
export function drawId(query: Buffer, taken: { has(id: number): boolean }): number {
  let id = randomInt(65_536)
  while (taken.has(id)) id = randomInt(65_536)
  query.writeUInt16BE(id, 0)
  return id
}

export function idOf(bytes: Buffer): number {
  return bytes.length < HEADER_BYTES ? -1 : bytes.readUInt16BE(0)
}

/**
 * Whether the packet is the response to exactly this query: id, name in any case, type and class.
 */
export function answers(bytes: Buffer, query: Buffer): boolean {
  if (idOf(bytes) !== idOf(query) || !isResponse(bytes)) return false
  // A server that could not read the query has no question to repeat.
  if (questionCount(bytes) === 0) return rcodeOf(bytes) === RCODE_FORMERR
  if (questionCount(bytes) !== 1) return false
  const end = questionEnd(query)
  const question = (of: Buffer) => of.toString('latin1', HEADER_BYTES, end).toLowerCase()
  return question(bytes) === question(query)
}

const RCODE_FORMERR = 1
const isResponse = (bytes: Buffer) => (bytes.readUInt8(2) & 0x80) !== 0
const rcodeOf = (bytes: Buffer) => bytes.readUInt8(3) & 0x0f
const questionCount = (bytes: Buffer) => bytes.readUInt16BE(4)

function questionEnd(query: Buffer): number {
  let at = HEADER_BYTES
  for (let length = query[at]; length; length = query[at]) at += length + 1
  return at + 5
}

/**
 * Whether the answer did not fit and must be fetched over TCP. Read from the header: the rest may
 * be cut anywhere.
 */
export function isTruncated(bytes: Buffer): boolean {
  return (bytes.readUInt8(2) & 0x02) !== 0
}

/** Reads the records of a packet for the name, or null when they cannot be parsed. */
export function readAnswer(bytes: Buffer, name: string, type: RecordType): Reading | null {
  const decoded = decode(bytes)
  if (!decoded) return null
  const { rcode } = decoded
  if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') return { failure: failureOf(rcode) }
  if (decoded.additionals.some((record) => record.type === 'OPT' && record.extendedRcode !== 0)) {
    return { failure: 'OTHER' }
  }
  const { records, chain, isLoop } = follow(decoded.answers.filter(isRecord), name, type)
  const isCut = records.length === 0 && chain.length >= MIN_CUT_CHAIN && !isLoop
  const soa = decoded.authorities.some((record) => record.type === 'SOA')
  if (isCut && !soa && decoded.flag_ra) return { failure: 'ALIASES' }
  const used = [...chain, ...records]
  const ttl =
    records.length > 0
      ? Math.min(...used.map((record) => record.ttl))
      : negativeTtl(decoded.authorities)
  return {
    status: rcode,
    records: records.map(withoutZeros),
    cnames: chain.map((record) => writeZeros(nameKey(String(record.data)))),
    ttl,
    isAuthenticated: decoded.flag_ad,
    isAuthoritative: decoded.flag_aa,
  }
}

type Decoded = Required<DecodedPacket> & { rcode: string }

function decode(bytes: Buffer): Decoded | null {
  try {
    return packet.decode(bytes) as Decoded
  } catch {
    return null
  }
}

function failureOf(rcode: string): DnsFailure {
  return rcode === 'SERVFAIL' || rcode === 'REFUSED' || rcode === 'FORMERR' || rcode === 'NOTIMP'
    ? rcode
    : 'OTHER'
}

type DataRecord = DnsRecord & { data: unknown }

function isRecord(record: PacketAnswer): record is DataRecord {
  if (record.type === 'OPT' || record.class !== 'IN' || record.ttl === undefined) return false
  // RFC 2181, 8: a TTL with the top bit set is zero.
  if (record.ttl > 0x7fff_ffff) record.ttl = 0
  return true
}

/**
 * Follows CNAMEs through the answer section, as far as the resolver did; a loop ends in no records.
 */
function follow(
  all: DataRecord[],
  name: string,
  type: RecordType,
): { records: DataRecord[]; chain: DataRecord[]; isLoop: boolean } {
  const byOwner = Map.groupBy(all, (record) => nameKey(record.name))
  const chain: DataRecord[] = []
  const seen = new Set<string>()
  let owner = nameKey(name)
  for (;;) {
    const here = byOwner.get(owner) ?? []
    const alias = type === 'CNAME' ? undefined : here.find((record) => record.type === 'CNAME')
    if (!alias)
      return { records: here.filter((record) => record.type === type), chain, isLoop: false }
    seen.add(owner)
    chain.push(alias)
    owner = nameKey(String(alias.data))
    if (seen.has(owner)) return { records: [], chain, isLoop: true }
  }
}

/**
 * Names and values as zone files write a zero octet (RFC 1035, 5.1): PostgreSQL has none in text.
 * TXT records stay bytes.
 */
function withoutZeros(record: DataRecord): DataRecord {
  const { name, data } = record
  const isPlain = typeof data === 'object' && data !== null && !Array.isArray(data) && !Buffer.isBuffer(data) // prettier-ignore
  const written = isPlain
    ? Object.fromEntries(Object.entries(data).map(([key, value]) => [key, writeZeros(value)]))
    : writeZeros(data)
  return { ...record, name: writeZeros(name), data: written } as DataRecord
}

function writeZeros<Value>(value: Value): Value {
  return typeof value === 'string' ? (value.replaceAll('\0', '\\000') as Value) : value
}

/** RFC 2308, 5: how long a negative answer may be cached. */
function negativeTtl(authorities: PacketAnswer[]): number {
  const soa = authorities.filter(isRecord).find((record) => record.type === 'SOA')
  return soa ? Math.min(soa.ttl, soa.data.minimum ?? 0) : 0
}

/** Names compare without case and without the final dot; the root stays ".". */
function nameKey(name: string): string {
  return name.toLowerCase().replace(/(?<=.)\.$/, '')
}

import type { Answer } from 'dns-packet'

/** One record in the text of zone files; a TXT record also as its pieces, which may be bytes. */
export type RecordText = string | (string | Buffer)[]
export type Records = Record<string, RecordText[]>
type Found = { key: string; text: RecordText }

const NOERROR = 0
const NXDOMAIN = 3

/**
 * The answer section for a question: CNAMEs followed, wildcards expanded (RFC 4592), empty
 * non-terminals exist.
 */
export function findAnswer(
  records: Records,
  name: string,
  type: string,
): { rcode: number; answers: Found[] } {
  const answers: Found[] = []
  const index = new Map(Object.entries(records).map(([key, texts]) => [keyOf(key), texts]))
  let owner = name
  for (let hops = 0; hops < 20; hops++) {
    const source = sourceOf(index, owner.toLowerCase())
    if (source === null) return { rcode: NXDOMAIN, answers }
    const own = index.get(`${source} ${type}`) ?? []
    answers.push(...own.map((text) => ({ key: `${owner} ${type}`, text })))
    const alias = index.get(`${source} CNAME`)?.[0]
    if (own.length > 0 || typeof alias !== 'string') break
    answers.push({ key: `${owner} CNAME`, text: alias })
    owner = alias
  }
  return { rcode: NOERROR, answers }
}

function keyOf(key: string): string {
  const [owner, type] = ownerAndType(key)
  return `${owner.toLowerCase()} ${type}`
}

/** A name may contain spaces. */
function ownerAndType(key: string): [string, string] {
  const at = key.lastIndexOf(' ')
  return [key.slice(0, at), key.slice(at + 1)]
}

/**
 * The owner whose records answer for the name: itself, a wildcard, or null when there is no such
 * name.
 */
function sourceOf(index: Map<string, unknown>, name: string): string | null {
  const owners = [...index.keys()].map((key) => ownerAndType(key)[0])
  const exists = (candidate: string) =>
    owners.some((owner) => owner === candidate || owner.endsWith(`.${candidate}`))
  if (exists(name)) return name
  let encloser = name
  while (encloser.includes('.') && !exists(encloser))
    encloser = encloser.slice(encloser.indexOf('.') + 1)
  return owners.includes(`*.${encloser}`) ? `*.${encloser}` : null
}

/** `parseRecord('example.test MX', '10 mx.example.test', 300)`. */
export function parseRecord(key: string, text: RecordText, ttl: number): Answer {
  const [name, type] = ownerAndType(key)
  return { name, type, ttl, class: 'IN', data: dataOf(type, text) } as Answer
}

function dataOf(type: string, text: RecordText): unknown {
  // dns-packet turns strings into Buffers in place: it gets a copy.
  if (type === 'TXT') return Array.isArray(text) ? [...text] : piecesOf(text)
  if (Array.isArray(text)) throw new Error(`only TXT records have pieces, not ${type}`)
  const [first = '', second = '', ...rest] = text.split(/\s+/)
  if (type === 'MX') return { preference: Number(first), exchange: second }
  if (type === 'SRV') {
    const [port, target] = rest
    return { priority: Number(first), weight: Number(second), port: Number(port), target }
  }
  if (type === 'CAA')
    return { flags: Number(first), tag: second, value: rest.join(' ').replaceAll('"', '') }
  if (type === 'SOA') {
    const [serial, refresh, retry, expire, minimum] = rest.map(Number)
    return { mname: first, rname: second, serial, refresh, retry, expire, minimum }
  }
  const hex = () => Buffer.from(rest.slice(1).join(''), 'hex')
  if (type === 'TLSA')
    return {
      usage: Number(first),
      selector: Number(second),
      matchingType: Number(rest[0]),
      certificate: hex(),
    }
  if (type === 'DS')
    return {
      keyTag: Number(first),
      algorithm: Number(second),
      digestType: Number(rest[0]),
      digest: hex(),
    }
  return text
}

/** One string of a TXT record holds at most 255 bytes. */
function piecesOf(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const pieces: Buffer[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += 255)
    pieces.push(bytes.subarray(at, at + 255))
  return pieces
}

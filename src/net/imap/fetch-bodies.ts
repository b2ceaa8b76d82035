import { createChannel, type Channel } from './channel.ts'
import { uidSet } from './encode.ts'
import { LIMITS } from './limits.ts'
import { ImapLost, ImapRefused, mayPass, type Refusal } from './refusals.ts'
import { numberOf, stringOf, type Value } from './response.ts'
import type { LiteralSink, Wire } from './wire.ts'

/** A message to fetch; its announced size only decides how it is grouped. */
export type Wanted = { uid: number; size: number | null }

export type Body = Buffer | AsyncIterable<Buffer>

/** `size` is the number of bytes of `body`. A streamed body must be read before the next row is asked for. */
export type Fetched =
  | { state: 'here'; uid: number; size: number; body: Body }
  /** The server has no such message any more. */
  | { state: 'gone'; uid: number }
  /** It has, but does not give it, asked for alone. */
  | { state: 'refused'; uid: number; refusal: Refusal }

type Group = { wanted: Wanted[]; missing: Set<number>; isAlone: boolean; current: Streaming | null }
type Streaming = { uid: number; size: number; chunks: Channel<Buffer> }

/**
 * Fetches whole messages of the open mailbox, BODY.PEEK only, some commands ahead of the consumer. Rows come in the
 * server's order, one for every UID asked for. Bodies up to `LIMITS.streamFrom` come whole, larger ones as streams.
 * @throws ImapRefused (for reasons that are not of one message), ImapLost
 */
export async function* fetchBodies(
  wire: Wire,
  wanted: Iterable<Wanted> | AsyncIterable<Wanted>,
): AsyncGenerator<Fetched> {
  const flow = { hold: () => wire.hold(), release: () => wire.release() }
  const weigh = (row: Fetched) => (row.state === 'here' && Buffer.isBuffer(row.body) ? row.body.length : 100)
  const rows = createChannel<Fetched>({ weigh, limit: LIMITS.waitingBodies, ...flow })
  const groups = groupsOf(wanted)
  const consumer = { isGone: false }

  async function fetchGroups(): Promise<void> {
    for (let next = await groups.next(); !next.done && !consumer.isGone; next = await groups.next()) {
      await fetchGroup(wire, next.value, (row) => rows.push(row))
    }
  }

  Promise.all(Array.from({ length: LIMITS.fetchesAhead }, fetchGroups)).then(
    () => rows.end(),
    (error: Error) => rows.fail(error),
  )
  try {
    for await (const row of rows) {
      try {
        yield row
      } finally {
        if (row.state === 'here' && isStream(row.body)) row.body.discard()
      }
    }
  } finally {
    consumer.isGone = true
    rows.discard()
  }
}

function isStream(body: Body): body is Channel<Buffer> {
  return !Buffer.isBuffer(body)
}

/** Whole commands' worth of messages; what may have to be streamed is asked for alone. */
async function* groupsOf(wanted: Iterable<Wanted> | AsyncIterable<Wanted>): AsyncGenerator<Wanted[]> {
  let group: Wanted[] = []
  let bytes = 0
  for await (const one of wanted) {
    const size = one.size ?? 0
    const isLarge = size > LIMITS.streamFrom
    const isFull = group.length >= LIMITS.fetchGroup.messages || bytes + size > LIMITS.fetchGroup.bytes
    if (group.length > 0 && (isLarge || isFull)) {
      yield group
      group = []
      bytes = 0
    }
    if (isLarge) yield [one]
    else {
      group.push(one)
      bytes += size
    }
  }
  if (group.length > 0) yield group
}

/** Asks for a group, then once more for each that did not come or came empty, alone. */
async function fetchGroup(wire: Wire, wanted: Wanted[], take: (row: Fetched) => void): Promise<void> {
  const missing = new Set(wanted.map(({ uid }) => uid))
  const refusal = await ask(wire, wanted, missing, (row) => {
    if (row.size === 0) missing.add(row.uid)
    else take(row)
  })
  for (const uid of missing) {
    if (refusal && wanted.length === 1) take({ state: 'refused', uid, refusal })
    else await fetchAlone(wire, uid, take)
  }
}

async function fetchAlone(wire: Wire, uid: number, take: (row: Fetched) => void): Promise<void> {
  const missing = new Set([uid])
  const refusal = await ask(wire, [{ uid, size: null }], missing, take)
  if (missing.size > 0) take(refusal ? { state: 'refused', uid, refusal } : { state: 'gone', uid })
}

type Here = Extract<Fetched, { state: 'here' }>

/** One command; takes the UIDs that came out of `missing`. Gives the server's refusal, if it refused. */
async function ask(
  wire: Wire,
  wanted: Wanted[],
  missing: Set<number>,
  take: (row: Here) => void,
): Promise<Refusal | null> {
  const group: Group = { wanted, missing, isAlone: wanted.length === 1, current: null }
  try {
    await wire.run([`UID FETCH ${uidSet(wanted.map(({ uid }) => uid))} (UID BODY.PEEK[])`], {
      data: (values) => heedRow(group, values, take),
      literal: (head, size) => openStream(wire, group, head, size, take),
    })
    return null
  } catch (error) {
    if (error instanceof ImapRefused && !mayPass(error.refusal)) return error.refusal
    throw error
  } finally {
    group.current?.chunks.fail(wire.lost ?? new ImapLost('protocol', 'A body did not end.'))
  }
}

function heedRow(group: Group, values: Value[], take: (row: Here) => void): boolean {
  if (values[1] !== 'FETCH') return false
  const { uid: told, body } = rowOf(values[2])
  if (body === undefined) return false
  const streaming = group.current
  if (isStreamed(body)) {
    if (!streaming) return false
    group.current = null
    // The UID may stand after the body; only now is it certain whose body it was.
    if (told !== null && told !== streaming.uid) streaming.chunks.fail(mixedUp())
    else streaming.chunks.end()
    return true
  }
  const uid = told ?? (group.isAlone ? (group.wanted[0]?.uid ?? null) : null)
  if (uid === null || !group.missing.delete(uid)) return false
  const bytes = bytesOf(body)
  take({ state: 'here', uid, size: bytes.length, body: bytes })
  return true
}

/** Takes a large body while it arrives. */
function openStream(
  wire: Wire,
  group: Group,
  head: Value[],
  size: number,
  take: (row: Here) => void,
): LiteralSink | undefined {
  if (size <= LIMITS.streamFrom || head[1] !== 'FETCH') return undefined
  const uid = rowOf(head[2]).uid ?? (group.isAlone ? (group.wanted[0]?.uid ?? null) : null)
  if (uid === null || !group.missing.delete(uid)) return undefined
  const chunks = createChannel<Buffer>({
    weigh: (chunk) => chunk.length,
    limit: LIMITS.waitingChunks,
    hold: () => wire.hold(),
    release: () => wire.release(),
  })
  group.current = { uid, size, chunks }
  take({ state: 'here', uid, size, body: chunks })
  return { write: (chunk) => chunks.push(chunk), fail: (error) => chunks.fail(error) }
}

/** UID and body of a FETCH response or its beginning; `body` is undefined where there is none. */
function rowOf(items: Value | undefined): { uid: number | null; body: Value | undefined } {
  let uid: number | null = null
  let body: Value | undefined
  const list = Array.isArray(items) ? items : []
  for (let at = 0; at < list.length; at += 2) {
    const name = stringOf(list[at])?.toUpperCase()
    if (name === 'UID') uid = numberOf(list[at + 1])
    if (name === 'BODY[]') body = list[at + 1]
  }
  return { uid, body }
}

function isStreamed(value: Value): boolean {
  return typeof value === 'object' && value !== null && 'streamed' in value
}

function bytesOf(body: Value): Buffer {
  if (Buffer.isBuffer(body)) return body
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.alloc(0)
}

function mixedUp(): ImapLost {
  return new ImapLost('protocol', 'The server answered with the body of another message.')
}

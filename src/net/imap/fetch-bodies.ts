import { createChannel } from './channel.ts'
import { confirmBodies, isEstimate, listAgain, resolveRefused } from './confirm-bodies.ts'
import {
  discardBody,
  fetchOnce,
  type BodyReceiver,
  type Doubt,
  type FetchedBody,
  type Wanted,
} from './fetch-command.ts'
import { LIMITS } from './limits.ts'
import { noop } from './mailbox.ts'
import type { Refusal } from './refusals.ts'
import type { Wire } from './wire.ts'

export type { Body, Wanted } from './fetch-command.ts'

/**
 * `size` is the number of bytes of `body`. A streamed body must be read before the next row is asked for. `announced` is
 * the size that the server told, where it is another and no known way of counting explains it.
 */
export type Fetched =
  | (FetchedBody & { announced?: number })
  /** The server has no such message any more. */
  | { state: 'gone'; uid: number }
  /** It has, but does not give it, asked for alone. */
  | { state: 'refused'; uid: number; refusal: Refusal }

type Receiver = Omit<BodyReceiver, 'take'> & { take: (row: Fetched) => void }

/**
 * Fetches whole messages of the open mailbox, BODY.PEEK only, some commands ahead of the consumer. Rows come in the
 * server's order, one for every UID asked for. What is not of the size that the server told is not taken for the message
 * before the server has confirmed it. Bodies up to `LIMITS.streamFrom` come whole, larger ones as streams.
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
        if (row.state === 'here') discardBody(row.body)
      }
    }
  } finally {
    consumer.isGone = true
    rows.discard()
  }
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

/** Fetches a group, then once more each message that did not come, alone; what is not of the size told is confirmed. */
async function fetchGroup(wire: Wire, wanted: readonly Wanted[], take: (row: Fetched) => void): Promise<void> {
  const missing = new Set(wanted.map(({ uid }) => uid))
  const doubts: Doubt[] = []
  const receiver = {
    take,
    doubt: (doubt: Doubt) => void doubts.push(held(doubts, doubt)),
    isEstimate: (told: number, bytes: number) => isEstimate(wire, told, bytes),
  }
  const refusal = await fetchLeft(wire, wanted, missing, receiver)
  await fetchMissing(wire, { wanted, missing, refusal }, receiver)
  await confirmBodies(wire, doubts, take)
}

/** Fetches them, once more after the server has told us of messages that another client expunged (RFC 2180, 4.1.2). */
async function fetchLeft(
  wire: Wire,
  wanted: readonly Wanted[],
  missing: Set<number>,
  receiver: Receiver,
): Promise<Refusal | null> {
  const refusal = await fetchOnce(wire, wanted, missing, receiver)
  if (refusal?.kind !== 'expunged' || missing.size === 0) return refusal
  await noop(wire)
  const left = wanted.filter(({ uid }) => missing.has(uid))
  return fetchOnce(wire, left, missing, receiver)
}

type Missing = { wanted: readonly Wanted[]; missing: ReadonlySet<number>; refusal: Refusal | null }

/** What did not come is gone, or asked for alone: one message that a server cannot give must not cost others. */
async function fetchMissing(wire: Wire, { wanted, missing, refusal }: Missing, receiver: Receiver): Promise<void> {
  const left = wanted.filter(({ uid }) => missing.has(uid))
  if (left.length === 0) return
  const uids = left.map(({ uid }) => uid)
  const listed = left.length > 1 ? await listAgain(wire, uids) : null
  for (const one of left) {
    if (listed && !listed.has(one.uid)) receiver.take({ state: 'gone', uid: one.uid })
    else if (refusal && wanted.length === 1) await resolveRefused(wire, one.uid, refusal, receiver.take)
    else await fetchAlone(wire, one, receiver)
  }
}

async function fetchAlone(wire: Wire, wanted: Wanted, receiver: Receiver): Promise<void> {
  const { uid } = wanted
  const missing = new Set([uid])
  const refusal = await fetchLeft(wire, [wanted], missing, receiver)
  if (missing.size === 0) return
  if (refusal) await resolveRefused(wire, uid, refusal, receiver.take)
  else receiver.take({ state: 'gone', uid })
}

/** Sizes that are told too small must not fill the memory: beyond what one group may be, bodies are fetched again. */
function held(doubts: readonly Doubt[], doubt: Doubt): Doubt {
  const bytes = doubts.reduce((sum, { body }) => sum + (body?.length ?? 0), doubt.body?.length ?? 0)
  return bytes > LIMITS.fetchGroup.bytes ? { ...doubt, body: null } : doubt
}

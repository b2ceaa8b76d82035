import { createBodyChannel } from './body-channel.ts'
import { confirmBodies, isEstimate, listRemaining, resolveRefused } from './confirm-bodies.ts'
import {
  discardBody,
  fetchOnce,
  type BodyReceiver,
  type DoubtfulBody,
  type FetchResult,
  type WantedMessage,
} from './fetch-command.ts'
import { IMAP_LIMITS } from '../limits.ts'
import { ImapRefused, type Refusal } from '../connection/refusals.ts'
import { noop } from './retry-after-expunges.ts'
import type { Wire } from '../connection/wire.ts'

export type { Body, FetchResult, WantedMessage } from './fetch-command.ts'

type Receiver = Omit<BodyReceiver, 'onBody'> & { onBody: (row: FetchResult) => void }

/**
 * Fetches whole messages of the open mailbox with BODY.PEEK, some commands ahead of the consumer.
 * Results come in the server’s order, one for every requested UID. A body of another size than
 * reported is confirmed with the server before it is accepted. Bodies up to
 * `LIMITS.streamAboveBytes` are buffers, larger ones are streams.
 * @throws ImapRefused (for reasons that concern more than one message), ImapLost
 */
export async function* fetchBodies(
  wire: Wire,
  wanted: Iterable<WantedMessage> | AsyncIterable<WantedMessage>,
): AsyncGenerator<FetchResult> {
  const flow = { hold: () => wire.pauseReading(), release: () => wire.resumeReading() }
  const weigh = (row: FetchResult) =>
    row.state === 'here' && Buffer.isBuffer(row.body) ? row.body.length : 100
  const rows = createBodyChannel<FetchResult>({
    weigh,
    limit: IMAP_LIMITS.waitingBodyBytes,
    ...flow,
  })
  const groups = groupsOf(wanted)
  const consumer = { isGone: false }

  async function fetchGroups(): Promise<void> {
    for (
      let next = await groups.next();
      !next.done && !consumer.isGone;
      next = await groups.next()
    ) {
      await fetchGroup(wire, next.value, (row) => rows.push(row))
    }
  }

  Promise.all(Array.from({ length: IMAP_LIMITS.fetchesAhead }, fetchGroups)).then(
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

/**
 * Groups messages into commands. A message that may have to be streamed gets a command of its own.
 */
async function* groupsOf(
  wanted: Iterable<WantedMessage> | AsyncIterable<WantedMessage>,
): AsyncGenerator<WantedMessage[]> {
  let group: WantedMessage[] = []
  let bytes = 0
  for await (const one of wanted) {
    const size = one.size ?? 0
    const isLarge = size > IMAP_LIMITS.streamAboveBytes
    const isFull =
      group.length >= IMAP_LIMITS.fetchGroup.messages || bytes + size > IMAP_LIMITS.fetchGroup.bytes
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

/**
 * Fetches a group, then each missing message alone, and confirms bodies of another size than
 * reported.
 */
async function fetchGroup(
  wire: Wire,
  wanted: readonly WantedMessage[],
  take: (row: FetchResult) => void,
): Promise<void> {
  const missing = new Set(wanted.map(({ uid }) => uid))
  const doubts: DoubtfulBody[] = []
  const receiver = {
    onBody: take,
    onDoubt: (doubt: DoubtfulBody) => void doubts.push(withinMemory(doubts, doubt)),
    isEstimate: (reportedSize: number, bytes: number) => isEstimate(wire, reportedSize, bytes),
  }
  const refusal = await fetchWithRetry(wire, wanted, missing, receiver)
  await fetchMissing(wire, { wanted, missing, refusal }, receiver)
  await confirmBodies(wire, doubts, take)
}

/**
 * Fetches messages, and once more after the server reported that another client expunged some (RFC
 * 2180, 4.1.2).
 */
async function fetchWithRetry(
  wire: Wire,
  wanted: readonly WantedMessage[],
  missing: Set<number>,
  receiver: Receiver,
): Promise<Refusal | null> {
  const refusal = await fetchOnce(wire, wanted, missing, receiver)
  if (refusal?.kind !== 'expunged' || missing.size === 0) return refusal
  await noop(wire)
  const left = wanted.filter(({ uid }) => missing.has(uid))
  return fetchOnce(wire, left, missing, receiver)
}

type MissingMessages = {
  wanted: readonly WantedMessage[]
  missing: ReadonlySet<number>
  refusal: Refusal | null
}

/**
 * A missing message is gone, or is fetched alone: a message that a server cannot return must not
 * cost others.
 */
async function fetchMissing(
  wire: Wire,
  { wanted, missing, refusal }: MissingMessages,
  receiver: Receiver,
): Promise<void> {
  const left = wanted.filter(({ uid }) => missing.has(uid))
  if (left.length === 0) return
  const uids = left.map(({ uid }) => uid)
  const listed = left.length > 1 ? await listRemaining(wire, uids) : null
  let busyInARow = 0
  for (const one of left) {
    if (listed && !listed.has(one.uid)) receiver.onBody({ state: 'gone', uid: one.uid })
    else if (refusal && wanted.length === 1)
      await resolveRefused(wire, one.uid, refusal, receiver.onBody)
    else {
      const alone = await fetchAlone(wire, one, receiver)
      busyInARow = alone?.kind === 'busy' ? busyInARow + 1 : 0
      // Then it is probably not about these messages: the others are left for later.
      if (alone && busyInARow === IMAP_LIMITS.busyInARow) throw new ImapRefused('UID FETCH', alone)
    }
  }
}

async function fetchAlone(
  wire: Wire,
  wanted: WantedMessage,
  receiver: Receiver,
): Promise<Refusal | null> {
  const { uid } = wanted
  const missing = new Set([uid])
  const refusal = await fetchWithRetry(wire, [wanted], missing, receiver)
  if (missing.size === 0) return null
  if (refusal) await resolveRefused(wire, uid, refusal, receiver.onBody)
  else receiver.onBody({ state: 'gone', uid })
  return refusal
}

/**
 * Bodies larger than reported must not fill the memory: beyond the size of one group, they are
 * fetched again.
 */
function withinMemory(doubts: readonly DoubtfulBody[], doubt: DoubtfulBody): DoubtfulBody {
  const bytes = doubts.reduce((sum, { body }) => sum + (body?.length ?? 0), doubt.body?.length ?? 0)
  return bytes > IMAP_LIMITS.fetchGroup.bytes ? { ...doubt, body: null } : doubt
}

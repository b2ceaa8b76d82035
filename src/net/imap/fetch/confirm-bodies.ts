import { formatUidSet } from '../connection/command-encoding.ts'
import {
  discardBody,
  fetchOnce,
  uidOf,
  type DoubtfulBody,
  type FetchedBody,
  type FetchResult,
} from './fetch-command.ts'
import { addItems, type FetchedItems } from './fetched-items.ts'
import { afterExpunges, noop } from './retry-after-expunges.ts'
import { IMAP_LIMITS } from '../limits.ts'
import { searchUids } from '../folders/mailbox.ts'
import {
  ESTIMATE_FACTOR,
  ESTIMATES_PROVEN,
  isCourierStandIn,
  isExchangeStandIn,
  isKnownMiscount,
  measureBody,
  type BodyMeasure,
} from '../quirks.ts'
import { classifyRefusal, ImapRefused, isThrottling, type Refusal } from '../connection/refusals.ts'
import { numberOf, pairsOf, stringOf, type Value } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'

type FetchHandler = (row: FetchResult) => void

/**
 * Per connection, the number of messages whose size differed from the reported one and that were
 * returned identically twice. Negative after one was returned differently.
 */
const estimates = new WeakMap<Wire, number>()

/** Whether the server is known to estimate sizes, and this one may be an estimate. */
export function isEstimate(wire: Wire, reportedSize: number, bytes: number): boolean {
  const isNear = bytes <= reportedSize * ESTIMATE_FACTOR && reportedSize <= bytes * ESTIMATE_FACTOR
  return isNear && (estimates.get(wire) ?? 0) >= ESTIMATES_PROVEN
}

/**
 * Decides the result of a message that the server does not return even alone: gone when it is no
 * longer listed.
 * @throws ImapRefused when the server asks for fewer requests, ImapLost
 */
export async function resolveRefused(
  wire: Wire,
  uid: number,
  refusal: Refusal,
  take: FetchHandler,
): Promise<void> {
  const listed = await listRemaining(wire, [uid])
  const isGone = listed ? !listed.has(uid) : refusal.kind === 'expunged'
  take(isGone ? { state: 'gone', uid } : { state: 'refused', uid, refusal })
}

/**
 * Decides whether doubtful bodies are the requested messages. A server that has not reported an
 * EXPUNGE yet may return stand-ins or nothing (RFC 2180, 4.1.3), so the remaining messages are
 * listed first. A remaining message of another size than reported is accepted when the server
 * returns the same bytes again and none after them, because many servers only estimate sizes.
 * @throws ImapRefused when the server asks for fewer requests, ImapLost
 */
export async function confirmBodies(
  wire: Wire,
  doubts: readonly DoubtfulBody[],
  take: FetchHandler,
): Promise<void> {
  if (doubts.length === 0) return
  const uids = doubts.map(({ uid }) => uid).toSorted((a, b) => a - b)
  const listed = await listRemaining(wire, uids)
  for (const doubt of doubts) {
    if (listed && !listed.has(doubt.uid)) take({ state: 'gone', uid: doubt.uid })
    else
      await confirmOne(
        wire,
        { ...doubt, reportedSize: listed?.get(doubt.uid) ?? doubt.reportedSize },
        take,
      )
  }
}

/**
 * Lists the remaining UIDs (ascending) with their sizes; null where the server does not report
 * them. NOOP comes first: a server answers for expunged messages until it has reported the EXPUNGE.
 */
export async function listRemaining(
  wire: Wire,
  uids: readonly number[],
): Promise<Map<number, number | null> | null> {
  const asked = new Set(uids)
  const listed = new Map<number, FetchedItems>()
  const data = (values: Value[]) => {
    const uid = addItems(values, listed)?.uid
    return uid !== undefined && asked.has(uid)
  }
  try {
    await noop(wire)
    await afterExpunges(wire, async () =>
      wire.run([`UID FETCH ${formatUidSet(uids)} (UID RFC822.SIZE)`], { data }),
    )
    return new Map([...listed].map(([uid, items]) => [uid, numberOf(items.get('RFC822.SIZE'))]))
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return null
  }
}

async function confirmOne(wire: Wire, doubt: DoubtfulBody, take: FetchHandler): Promise<void> {
  const { uid, reportedSize, measure, body } = doubt
  const { bytes } = measure
  const isKnown = bytes > 0 && matchesSize(reportedSize, measure)
  const isStandIn =
    body !== null &&
    (isExchangeStandIn(body) || (isCourierStandIn(body) && !(await hasStandInSubject(wire, uid))))
  if (isStandIn) return take(refusedBody(doubt, 'another message in its place'))
  if (body && isKnown) return take({ state: 'here', uid, size: bytes, body })
  if (body && reportedSize !== null && isEstimate(wire, reportedSize, bytes)) {
    return take({ state: 'here', uid, size: bytes, body, announced: reportedSize })
  }
  if (!isKnown && bytes > 0 && (await hasMoreBytes(wire, uid, bytes))) {
    return take(refusedBody(doubt, `the first ${bytes} bytes of more`))
  }
  await fetchAgain(wire, doubt, take)
}

/**
 * Whether a message is stored with the text of Courier’s stand-in, as a copy by another program.
 * Courier searches files that it can read, and no stand-ins.
 */
async function hasStandInSubject(wire: Wire, uid: number): Promise<boolean> {
  try {
    return (await searchUids(wire, `UID ${uid} SUBJECT "message unavailable"`)).includes(uid)
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
    return false
  }
}

function matchesSize(reportedSize: number | null, measure: BodyMeasure): boolean {
  return (
    reportedSize === null ||
    reportedSize === measure.bytes ||
    isKnownMiscount(reportedSize, measure)
  )
}

/**
 * Fetches the message again, alone. It is accepted if it has the reported size or is the same as
 * before.
 */
async function fetchAgain(wire: Wire, doubt: DoubtfulBody, take: FetchHandler): Promise<void> {
  const { uid, reportedSize, measure } = doubt
  const missing = new Set([uid])
  const others: number[] = []
  const refusal = await fetchOnce(wire, [{ uid, size: null }], missing, {
    onBody(row) {
      if (isConfirmedBySize(doubt, row)) take(row)
      else if (isSameBody(doubt, row)) {
        estimates.set(wire, (estimates.get(wire) ?? 0) + 1)
        take(
          reportedSize === null || matchesSize(reportedSize, measure)
            ? row
            : { ...row, announced: reportedSize },
        )
      } else {
        others.push(row.size)
        discardBody(row.body)
      }
    },
  })
  if (missing.size > 0)
    return refusal ? resolveRefused(wire, uid, refusal, take) : take({ state: 'gone', uid })
  const [other] = others
  if (other === undefined) return
  estimates.set(wire, -Infinity)
  take(
    refusedBody(
      doubt,
      other === 0 ? 'nothing' : `${measure.bytes} bytes, and ${other} others when asked again`,
    ),
  )
}

/**
 * The second fetch decides whether an empty body is real: servers without a message return NIL as
 * well as “”.
 */
function isConfirmedBySize(
  { reportedSize, measure }: DoubtfulBody,
  { size, body }: FetchedBody,
): boolean {
  if (reportedSize === null || reportedSize === size) return size > 0 || measure.bytes === 0
  return Buffer.isBuffer(body) && size > 0 && isKnownMiscount(reportedSize, measureBody(body))
}

function isSameBody({ measure }: DoubtfulBody, { size, body }: FetchedBody): boolean {
  if (size === 0 || size !== measure.bytes) return false
  return !Buffer.isBuffer(body) || measureBody(body).digest === measure.digest
}

/** Whether the server has more bytes of a message than it returned; false where it does not say. */
async function hasMoreBytes(wire: Wire, uid: number, bytes: number): Promise<boolean> {
  let isMore = false
  try {
    await wire.run([`UID FETCH ${uid} (UID BODY.PEEK[]<${bytes}.1>)`], {
      data(values) {
        const pairs = values[1] === 'FETCH' ? pairsOf(values[2]) : null
        const part = pairs?.get(`BODY[]<${bytes}>`)
        if (!pairs || numberOf(pairs.get('UID')) !== uid) return false
        isMore = (stringOf(part) ?? '') !== ''
        return true
      },
      // A server without partial fetch returns the whole body.
      literal: (head, size) =>
        size > IMAP_LIMITS.streamAboveBytes && head[1] === 'FETCH' && uidOf(head[2]) === uid
          ? DISCARDING_SINK
          : undefined,
    })
  } catch (error) {
    if (!(error instanceof ImapRefused) || isThrottling(error.refusal)) throw error
  }
  return isMore
}

const DISCARDING_SINK = { write: () => undefined, fail: () => undefined }

function refusedBody({ uid, reportedSize }: DoubtfulBody, gave: string): FetchResult {
  const text = `The server gives ${gave} for this message, of which it says that it has ${reportedSize ?? 'some'} bytes.`
  return { state: 'refused', uid, refusal: classifyRefusal('NO', null, text) }
}

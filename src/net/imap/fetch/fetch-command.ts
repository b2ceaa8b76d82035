import { createBodyChannel, type BodyChannel } from './body-channel.ts'
import { formatUidSet } from '../connection/command-encoding.ts'
import { IMAP_LIMITS } from '../limits.ts'
import {
  createMeter,
  isCourierStandIn,
  isKnownMiscount,
  measureBody,
  type BodyMeasure,
} from '../quirks.ts'
import { ImapLost, ImapRefused, isThrottling, type Refusal } from '../connection/refusals.ts'
import { positiveOf, stringOf, type Value } from '../connection/response.ts'
import type { LiteralSink } from '../connection/listener.ts'
import type { Wire } from '../connection/wire.ts'

/** A message to fetch, with the size that the server reported for it (RFC822.SIZE). */
export type WantedMessage = { uid: number; size: number | null }

export type Body = Buffer | AsyncIterable<Buffer>

export type FetchedBody = { state: 'here'; uid: number; size: number; body: Body }

/**
 * The result of fetching one message. `size` is the number of bytes of `body`. A streamed body must
 * be read before the next result is requested. `announced` is the size that the server reported, if
 * it differs and no known way of counting explains it.
 */
export type FetchResult =
  | (FetchedBody & { announced?: number })
  /** The server no longer has this message. */
  | { state: 'gone'; uid: number }
  /** The server has the message but does not return it, even requested alone. */
  | { state: 'refused'; uid: number; refusal: Refusal }

/** Drops the rest of a body that has no consumer. */
export function discardBody(body: Body): void {
  if (isStream(body)) body.discard()
}

function isStream(body: Body): body is BodyChannel<Buffer> {
  return !Buffer.isBuffer(body)
}

/** A body that may not be the requested message. `body` is null if it was too large to buffer. */
export type DoubtfulBody = {
  uid: number
  reportedSize: number | null
  measure: BodyMeasure
  body: Buffer | null
}

export type BodyReceiver = {
  onBody(row: FetchedBody): void
  /**
   * Called instead of `onBody` when the size differs from the reported one. Without it, every body
   * is accepted.
   */
  onDoubt?(doubt: DoubtfulBody): void
  /** Whether a stream of this size is acceptable although another was reported. */
  isEstimate?(reportedSize: number, bytes: number): boolean
}

type FetchCommand = {
  reportedSizes: Map<number, number | null>
  missing: Set<number>
  isAlone: boolean
  receiver: BodyReceiver
  streaming: StreamingBody | null
}
type StreamingBody = { uid: number; end(): void; fail(error: Error): void }

/**
 * Sends one FETCH, and removes the UIDs of received bodies from `missing`.
 * @returns the server’s refusal, if it rejected the command
 * @throws ImapRefused when the server asks for fewer requests, ImapLost
 */
export async function fetchOnce(
  wire: Wire,
  wanted: readonly WantedMessage[],
  missing: Set<number>,
  receiver: BodyReceiver,
): Promise<Refusal | null> {
  const reportedSizes = new Map(wanted.map(({ uid, size }) => [uid, size]))
  const command: FetchCommand = {
    reportedSizes,
    missing,
    isAlone: wanted.length === 1,
    receiver,
    streaming: null,
  }
  try {
    await wire.run([`UID FETCH ${formatUidSet(wanted.map(({ uid }) => uid))} (UID BODY.PEEK[])`], {
      data: (values) => handleRow(command, values),
      literal: (head, size) => openStream(wire, command, head, size),
    })
    return null
  } catch (error) {
    if (error instanceof ImapRefused && !isThrottling(error.refusal)) return error.refusal
    throw error
  } finally {
    command.streaming?.fail(wire.lost ?? new ImapLost('protocol', 'A body did not end.'))
  }
}

function handleRow(command: FetchCommand, values: Value[]): boolean {
  if (values[1] !== 'FETCH') return false
  const { uid: reportedUid, body } = rowOf(values[2])
  if (body === undefined) return false
  if (isStreamed(body)) return endStream(command, reportedUid)
  const uid = reportedUid ?? onlyUid(command)
  if (uid === null || !command.missing.delete(uid)) return false
  const bytes = bytesOf(body)
  const { receiver } = command
  const reportedSize = command.reportedSizes.get(uid) ?? null
  if (receiver.onDoubt && isDoubtful(reportedSize, bytes)) {
    receiver.onDoubt({ uid, reportedSize, measure: measureBody(bytes), body: bytes })
  } else receiver.onBody({ state: 'here', uid, size: bytes.length, body: bytes })
  return true
}

function endStream(command: FetchCommand, reportedUid: number | null): boolean {
  const { streaming } = command
  if (!streaming) return false
  command.streaming = null
  // The UID may follow the body. Only now is it certain which message the body belongs to.
  if (reportedUid !== null && reportedUid !== streaming.uid) streaming.fail(wrongBodyError())
  else streaming.end()
  return true
}

/** Whether a body may be something else than the message with this reported size. */
function isDoubtful(reportedSize: number | null, body: Buffer): boolean {
  if (body.length === 0 || isCourierStandIn(body)) return true
  return (
    reportedSize !== null &&
    reportedSize !== body.length &&
    !isKnownMiscount(reportedSize, measureBody(body))
  )
}

/** Streams a large body while it arrives. */
function openStream(
  wire: Wire,
  command: FetchCommand,
  head: Value[],
  size: number,
): LiteralSink | undefined {
  if (size <= IMAP_LIMITS.streamAboveBytes || head[1] !== 'FETCH') return undefined
  const uid = rowOf(head[2]).uid ?? onlyUid(command)
  if (uid === null || !command.missing.delete(uid)) return undefined
  const { receiver } = command
  const reportedSize = command.reportedSizes.get(uid) ?? null
  const isDoubted =
    reportedSize !== null &&
    reportedSize !== size &&
    receiver.isEstimate?.(reportedSize, size) !== true
  return receiver.onDoubt && isDoubted
    ? measureOnly(command, uid, reportedSize)
    : streamBody(wire, command, uid, size)
}

function streamBody(wire: Wire, command: FetchCommand, uid: number, size: number): LiteralSink {
  const chunks: BodyChannel<Buffer> = createBodyChannel<Buffer>({
    weigh: (chunk) => chunk.length,
    limit: IMAP_LIMITS.waitingChunkBytes,
    hold: () => wire.pauseReading(),
    release: () => wire.resumeReading(),
  })
  command.streaming = { uid, end: () => chunks.end(), fail: (error) => chunks.fail(error) }
  command.receiver.onBody({ state: 'here', uid, size, body: chunks })
  return { write: (chunk) => chunks.push(chunk), fail: (error) => chunks.fail(error) }
}

/**
 * A doubtful body that is too large to buffer is only measured, and fetched again once it is
 * confirmed.
 */
function measureOnly(command: FetchCommand, uid: number, reportedSize: number): LiteralSink {
  const meter = createMeter()
  const end = () =>
    command.receiver.onDoubt?.({ uid, reportedSize, measure: meter.end(), body: null })
  command.streaming = { uid, end, fail: () => undefined }
  return { write: (chunk) => meter.write(chunk), fail: () => undefined }
}

function onlyUid({ isAlone, reportedSizes }: FetchCommand): number | null {
  return isAlone ? ([...reportedSizes.keys()][0] ?? null) : null
}

/** The UID in the part of a FETCH response that was already read. */
export function uidOf(items: Value | undefined): number | null {
  return rowOf(items).uid
}

/** The UID and body of a FETCH response or its beginning; `body` is undefined if there is none. */
function rowOf(items: Value | undefined): { uid: number | null; body: Value | undefined } {
  let uid: number | null = null
  let body: Value | undefined
  const list = Array.isArray(items) ? items : []
  for (let at = 0; at < list.length; at += 2) {
    const name = stringOf(list[at])?.toUpperCase()
    if (name === 'UID') uid = positiveOf(list[at + 1])
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

function wrongBodyError(): ImapLost {
  return new ImapLost('protocol', 'The server answered with the body of another message.')
}

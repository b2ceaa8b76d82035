import { createChannel, type Channel } from './channel.ts'
import { uidSet } from './encode.ts'
import { LIMITS } from './limits.ts'
import { createMeter, isCourierStandIn, isKnownMiscount, measureBody, type BodyMeasure } from './quirks.ts'
import { ImapLost, ImapRefused, mayPass, type Refusal } from './refusals.ts'
import { numberOf, stringOf, type Value } from './response.ts'
import type { LiteralSink, Wire } from './wire.ts'

/** A message to fetch, and the size the server told of it (RFC822.SIZE). */
export type Wanted = { uid: number; size: number | null }

export type Body = Buffer | AsyncIterable<Buffer>

export type FetchedBody = { state: 'here'; uid: number; size: number; body: Body }

/** Drops what is left of a body that nobody wants. */
export function discardBody(body: Body): void {
  if (isStream(body)) body.discard()
}

function isStream(body: Body): body is Channel<Buffer> {
  return !Buffer.isBuffer(body)
}

/** What came in a message's place and may not be it. `body` is null where it was too large to be kept. */
export type Doubt = { uid: number; told: number | null; measure: BodyMeasure; body: Buffer | null }

export type BodyReceiver = {
  take(row: FetchedBody): void
  /** Called in place of `take` for what is not of the size the server told. Without it everything is taken. */
  doubt?(doubt: Doubt): void
  /** Whether a stream of this size may be taken though another was told. */
  isEstimate?(told: number, bytes: number): boolean
}

type Command = {
  told: Map<number, number | null>
  missing: Set<number>
  isAlone: boolean
  receiver: BodyReceiver
  streaming: Streaming | null
}
type Streaming = { uid: number; end(): void; fail(error: Error): void }

/**
 * Sends one FETCH; takes the UIDs whose bodies came out of `missing`.
 * @returns the server's refusal, if it refused
 * @throws ImapRefused when the server asks us to come back later, ImapLost
 */
export async function fetchOnce(
  wire: Wire,
  wanted: readonly Wanted[],
  missing: Set<number>,
  receiver: BodyReceiver,
): Promise<Refusal | null> {
  const told = new Map(wanted.map(({ uid, size }) => [uid, size]))
  const command: Command = { told, missing, isAlone: wanted.length === 1, receiver, streaming: null }
  try {
    await wire.run([`UID FETCH ${uidSet(wanted.map(({ uid }) => uid))} (UID BODY.PEEK[])`], {
      data: (values) => handleRow(command, values),
      literal: (head, size) => openStream(wire, command, head, size),
    })
    return null
  } catch (error) {
    if (error instanceof ImapRefused && !mayPass(error.refusal)) return error.refusal
    throw error
  } finally {
    command.streaming?.fail(wire.lost ?? new ImapLost('protocol', 'A body did not end.'))
  }
}

function handleRow(command: Command, values: Value[]): boolean {
  if (values[1] !== 'FETCH') return false
  const { uid: toldUid, body } = rowOf(values[2])
  if (body === undefined) return false
  if (isStreamed(body)) return endStream(command, toldUid)
  const uid = toldUid ?? onlyUid(command)
  if (uid === null || !command.missing.delete(uid)) return false
  const bytes = bytesOf(body)
  const { receiver } = command
  const told = command.told.get(uid) ?? null
  if (receiver.doubt && isDoubtful(told, bytes)) {
    receiver.doubt({ uid, told, measure: measureBody(bytes), body: bytes })
  } else receiver.take({ state: 'here', uid, size: bytes.length, body: bytes })
  return true
}

function endStream(command: Command, toldUid: number | null): boolean {
  const { streaming } = command
  if (!streaming) return false
  command.streaming = null
  // The UID may stand after the body; only now is it certain whose body it was.
  if (toldUid !== null && toldUid !== streaming.uid) streaming.fail(mixedUp())
  else streaming.end()
  return true
}

/** Whether what came may be something else than the message of which the server told this size. */
export function isDoubtful(told: number | null, body: Buffer): boolean {
  if (body.length === 0 || isCourierStandIn(body)) return true
  return told !== null && told !== body.length && !isKnownMiscount(told, measureBody(body))
}

/** Takes a large body while it arrives. */
function openStream(wire: Wire, command: Command, head: Value[], size: number): LiteralSink | undefined {
  if (size <= LIMITS.streamFrom || head[1] !== 'FETCH') return undefined
  const uid = rowOf(head[2]).uid ?? onlyUid(command)
  if (uid === null || !command.missing.delete(uid)) return undefined
  const { receiver } = command
  const told = command.told.get(uid) ?? null
  const isDoubted = told !== null && told !== size && receiver.isEstimate?.(told, size) !== true
  return receiver.doubt && isDoubted ? measuring(command, uid, told) : passing(wire, command, uid, size)
}

function passing(wire: Wire, command: Command, uid: number, size: number): LiteralSink {
  const chunks: Channel<Buffer> = createChannel<Buffer>({
    weigh: (chunk) => chunk.length,
    limit: LIMITS.waitingChunks,
    hold: () => wire.hold(),
    release: () => wire.release(),
  })
  command.streaming = { uid, end: () => chunks.end(), fail: (error) => chunks.fail(error) }
  command.receiver.take({ state: 'here', uid, size, body: chunks })
  return { write: (chunk) => chunks.push(chunk), fail: (error) => chunks.fail(error) }
}

/** What is too large to be kept until it is certain is only measured, and fetched again when it is. */
function measuring(command: Command, uid: number, told: number): LiteralSink {
  const meter = createMeter()
  const end = () => command.receiver.doubt?.({ uid, told, measure: meter.end(), body: null })
  command.streaming = { uid, end, fail: () => undefined }
  return { write: (chunk) => meter.write(chunk), fail: () => undefined }
}

function onlyUid({ isAlone, told }: Command): number | null {
  return isAlone ? ([...told.keys()][0] ?? null) : null
}

/** The UID of a FETCH response, as far as it has been read. */
export function uidOf(items: Value | undefined): number | null {
  return rowOf(items).uid
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

import type { AppendOutcome } from '../../../net/imap/append/append-outcome.ts'
import type { Appender, AppendMessage } from '../../../net/imap/append/append.ts'
import { fetchBodies, type Body, type FetchResult } from '../../../net/imap/fetch/fetch-bodies.ts'
import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { IMAP_LIMITS } from '../../../net/imap/limits.ts'
import {
  parseDateHeader,
  isUnusualDate,
  isUserFlag,
  serialiseDate,
} from '../../../net/imap/append/flags-and-dates.ts'
import { ImapRefused, type Refusal } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { freeBuffer } from '../../../net/free-buffer.ts'
import { withDigest } from './body-digest.ts'

/** The change with which a rejected message is sent again. */
export type RetryStrategy =
  | 'as-is'
  | 'other-date'
  | 'without-deleted'
  | 'without-keywords'
  | 'line-ends'

/**
 * The origin of a message’s date. `unreadable`: the source has no valid one, so the header’s was
 * sent.
 */
type DateSource = 'source' | 'header' | 'unreadable' | 'nobody'

/** How a message was sent. `announced`: the size that the source reported, if it was wrong. */
type SentAs = { strategy: RetryStrategy; datedBy: DateSource; announced: number | null }

type Copy = {
  to: number | null
  uidValidity: number | null
  size: number
  /** SHA-256 of what the source returned; null where it is not recorded. */
  digest: Buffer | null
  date: string | null
}

/** The outcome of one message of a batch. */
export type MessageOutcome =
  | (Copy & SentAs & { state: 'copied'; row: Metadata })
  | { state: 'gone'; row: Metadata }
  | { state: 'unfetchable'; row: Metadata; refusal: Refusal }
  /** `next` is the strategy of the retry; null when none is left. */
  | {
      state: 'refused'
      row: Metadata
      refusal: Refusal
      strategy: RetryStrategy
      next: RetryStrategy | null
    }
  /** Sent without a response: it may be at the destination. */
  | (SentAs & { state: 'unknown'; row: Metadata; appender: Appender; isSuspect: boolean })
  /** Certainly not at the destination; it is sent again. */
  | { state: 'unsent'; row: Metadata; appender: Appender; isSuspect: boolean }
  /** The source’s connection broke before this message, or it asked for fewer requests. */
  | { state: 'unread'; row: Metadata; refusal: Refusal | null }

export type BatchDeps = {
  /** With the folder open. */
  source: Wire
  /**
   * Returns an appender for the present connection, because the destination may have signed us out
   * while the source was slow.
   */
  appender: () => Promise<Appender>
  /** Resolves when the intent is durable. */
  intended: Promise<unknown>
  /** Resolves when all earlier batches were sent. */
  before: Promise<unknown>
  /** Called when this batch was sent. */
  sent: () => void
  strategyOf: (uid: number) => RetryStrategy
  recordsDigests: boolean
}

type Loaded = SentAs & {
  row: Metadata
  outgoing: AppendMessage
  /** SHA-256 of the whole body, once it was sent; null where it is not recorded. */
  digest: (() => Buffer) | null
}
type FetchedMessage = Extract<FetchResult, { state: 'here' }>
type Sent = { outcomes: Promise<MessageOutcome[]> }

/**
 * Copies a batch of one folder, in the order of its messages. Every message gets one outcome.
 * Rejects when the intent could not be recorded or nothing can be sent; then the outcome of
 * everything sent is unknown.
 */
export async function copyBatch(
  rows: readonly Metadata[],
  deps: BatchDeps,
): Promise<MessageOutcome[]> {
  // A streamed body must be read at once, so its turn to be sent must have come.
  if (rows.some(isLarge)) await deps.before
  const { outcomes, loaded, late, sent } = await fetchBatch(rows, deps)
  await deps.before
  let gathered: Loaded[] = []
  for (const one of [...loaded, ...late].toSorted((a, b) => uidOf(a) - uidOf(b))) {
    if ('outgoing' in one) gathered.push(one)
    else {
      if (gathered.length > 0) sent.push(await send(gathered, deps))
      gathered = []
      const again = await fetchBatch([one], deps, true)
      outcomes.push(...again.outcomes)
      sent.push(...again.sent)
    }
  }
  if (gathered.length > 0) sent.push(await send(gathered, deps))
  deps.sent()
  return [...outcomes, ...(await Promise.all(sent.map(({ outcomes: told }) => told))).flat()]
}

/** Whether a message is streamed. It is in a batch of its own. */
export function isLarge({ size }: Pick<Metadata, 'size'>): boolean {
  return (size ?? 0) > IMAP_LIMITS.streamAboveBytes
}

function uidOf(one: Loaded | Metadata): number {
  return 'outgoing' in one ? one.row.uid : one.uid
}

type FetchedBatch = {
  outcomes: MessageOutcome[]
  loaded: Loaded[]
  /** Streamed messages whose size was not known: they are fetched again when it is their turn. */
  late: Metadata[]
  sent: Sent[]
}

/** @param isAlone whether a streamed message is sent at once */
async function fetchBatch(
  rows: readonly Metadata[],
  deps: BatchDeps,
  isAlone = rows.some(isLarge),
): Promise<FetchedBatch> {
  const batch: FetchedBatch = { outcomes: [], loaded: [], late: [], sent: [] }
  const byUid = new Map(rows.map((row) => [row.uid, row]))
  let refusal: Refusal | null = null
  try {
    for await (const fetched of fetchBodies(deps.source, rows)) {
      const row = byUid.get(fetched.uid)
      if (!row) continue
      byUid.delete(row.uid)
      if (fetched.state === 'gone') batch.outcomes.push({ state: 'gone', row })
      else if (fetched.state === 'refused')
        batch.outcomes.push({ state: 'unfetchable', row, refusal: fetched.refusal })
      else if (Buffer.isBuffer(fetched.body)) batch.loaded.push(load(row, fetched, deps))
      else if (isAlone) batch.sent.push(await send([load(row, fetched, deps)], deps))
      else batch.late.push(row)
    }
  } catch (error) {
    // Messages that the source did not return are fetched again.
    if (error instanceof ImapRefused) refusal = error.refusal
  }
  for (const row of byUid.values()) batch.outcomes.push({ state: 'unread', row, refusal })
  return batch
}

function load(row: Metadata, fetched: FetchedMessage, deps: BatchDeps): Loaded {
  const { size, body, announced = null } = fetched
  const summed = deps.recordsDigests ? withDigest(body) : null
  const whole = summed?.body ?? body
  const strategy = deps.strategyOf(row.uid)
  const flags = flagsFor(strategy, row.flags)
  const altered = strategy === 'line-ends' && Buffer.isBuffer(whole) ? withCrlf(whole) : whole
  const { date, datedBy } = dateOf(row, altered, strategy)
  const outgoing = {
    size: Buffer.isBuffer(altered) ? altered.length : size,
    body: altered,
    flags,
    internalDate: date,
  }
  return { row, outgoing, digest: summed?.digest ?? null, strategy, datedBy, announced }
}

function flagsFor(strategy: RetryStrategy, flags: readonly string[]): readonly string[] {
  if (strategy === 'without-deleted') return flags.filter((flag) => !isDeleted(flag))
  const isStripped = strategy === 'without-keywords' || strategy === 'line-ends'
  return isStripped ? flags.filter((flag) => !isUserFlag(flag)) : flags
}

/** Yahoo: “NO [CANNOT] APPEND Contains Deleted flag”. */
function isDeleted(flag: string): boolean {
  return flag.toLowerCase() === '\\deleted'
}

function nextStrategy(
  strategy: RetryStrategy,
  refusal: Refusal,
  { flags }: Metadata,
  { body, internalDate }: AppendMessage,
): RetryStrategy | null {
  const isFirst = strategy === 'as-is' || strategy === 'other-date'
  if (isFirst && flags.some(isDeleted) && /\bdeleted\b/i.test(refusal.text))
    return 'without-deleted'
  const isUnusual = internalDate !== null && isUnusualDate(internalDate)
  if (strategy === 'as-is' && isUnusual) return 'other-date'
  if ((isFirst || strategy === 'without-deleted') && flags.some(isUserFlag))
    return 'without-keywords'
  if (strategy !== 'line-ends' && Buffer.isBuffer(body) && hasBareLineEnds(body)) return 'line-ends'
  return null
}

/**
 * Returns the source’s date (INTERNALDATE), or the one in the header where it is missing or was
 * rejected.
 */
function dateOf(
  { internalDate }: Metadata,
  body: Body,
  strategy: RetryStrategy,
): { date: string | null; datedBy: DateSource } {
  const kept = internalDate === null ? null : serialiseDate(internalDate)
  const mayKeep = strategy === 'as-is' || (kept !== null && !isUnusualDate(kept))
  if (kept !== null && mayKeep) return { date: kept, datedBy: 'source' }
  const date = Buffer.isBuffer(body) ? dateInHeader(body) : null
  if (date === null) return { date, datedBy: 'nobody' }
  return { date, datedBy: internalDate === null ? 'header' : 'unreadable' }
}

function dateInHeader(body: Buffer): string | null {
  const header = body.toString('latin1', 0, 64 * 1024).split(/\r?\n\r?\n/, 1)[0] ?? ''
  const value = /^date[ \t]*:((?:.|\r?\n[ \t])*)/im.exec(header)?.[1]
  return value === undefined ? null : parseDateHeader(value)
}

function hasBareLineEnds(body: Buffer): boolean {
  return /(?<!\r)\n|\r(?!\n)/.test(body.toString('latin1'))
}

function withCrlf(body: Buffer): Buffer {
  return Buffer.from(body.toString('latin1').replace(/\r\n|\r|\n/g, '\r\n'), 'latin1')
}

/** Sends messages. Resolves when they are sent; their outcome follows. */
async function send(loaded: Loaded[], deps: BatchDeps): Promise<Sent> {
  await deps.intended
  const appender = await deps.appender()
  const { outcomes } = await appender.submit(loaded.map(({ outgoing }) => outgoing))
  return {
    outcomes: outcomes.then((all) =>
      all.map((outcome, index) => outcomeOf(outcome, loaded[index] as Loaded, appender)),
    ),
  }
}

function outcomeOf(
  outcome: AppendOutcome,
  { row, outgoing, digest, strategy, datedBy, announced }: Loaded,
  appender: Appender,
): MessageOutcome {
  if (outcome.state === 'stored') {
    const { uid: to, uidValidity, isSent } = outcome
    const sum = digest?.() ?? null
    if (isSent && Buffer.isBuffer(outgoing.body)) freeBuffer(outgoing.body)
    return {
      state: 'copied',
      row,
      to,
      uidValidity,
      size: outgoing.size,
      digest: sum,
      datedBy,
      date: outgoing.internalDate,
      announced,
      strategy,
    }
  }
  if (outcome.state === 'refused') {
    const next = nextStrategy(strategy, outcome.refusal, row, outgoing)
    return { state: 'refused', row, refusal: outcome.refusal, strategy, next }
  }
  const { state, isSuspect } = outcome
  return { state, row, appender, isSuspect, strategy, datedBy, announced }
}

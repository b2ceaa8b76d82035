import type { MigrationContext } from '../context.ts'
import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import {
  isUserFlag,
  epochMsOf,
  serialiseDate,
  storableFlags,
} from '../../../net/imap/append/flags-and-dates.ts'
import {
  isTemporary,
  sanitise,
  type ImapLost,
  describeRefusal,
  type Refusal,
} from '../../../net/imap/connection/refusals.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { MessageOutcome, RetryStrategy } from './copy-batch.ts'
import { messageIdOf } from '../identify/fingerprint.ts'
import type { OpenIntent } from '../journal/folder-state.ts'
import type { OpenFolder } from './open-folder.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { FolderStop, Reopen, Stop } from '../stop.ts'

/** Failures of the messages of one folder. */
export type FailureEvidence = {
  /** Connections whose end is already attributed to a message. */
  blamedWires: WeakSet<Wire>
  /** Message-ID and size of suspected messages, for the report. */
  descriptions: Map<number, { messageId: string | null; size: number | null; text: string }>
  /** How often the destination rejected these messages temporarily. */
  postponements: Map<number, number>
  /** Messages that the source listed but did not return. */
  missing: Set<number>
}

export type RecordDeps = {
  migration: MigrationContext
  folder: string
  at: OpenFolder
  intent: OpenIntent
  strategies: Map<number, RetryStrategy>
  evidence: FailureEvidence
  /** Keywords of this folder that the destination does not store. */
  leftOut: Set<string>
  source: MailboxView
}

/** Records a message that the destination already has, as our copy or from before. */
export function recordExisting({ isRematch, folderState }: OpenFolder, row: Metadata): void {
  // Whether that message of the destination is ours is not known for certain: the record has no UID.
  if (isRematch) folderState.copied([{ uid: row.uid, to: null, size: row.size ?? 0, row }])
  else folderState.skipped(row.uid, row.size ?? 0)
}

type OutcomeOf<State extends MessageOutcome['state']> = Extract<MessageOutcome, { state: State }>

/**
 * Records the outcomes of a batch.
 * @throws Stop, FolderStop, Reopen after everything is recorded
 */
export function recordOutcomes(outcomes: readonly MessageOutcome[], deps: RecordDeps): void {
  const { migration, at, intent } = deps
  const troubles = outcomes
    .map((outcome) => recordOutcome(outcome, deps))
    .filter((trouble) => trouble !== null)
  intent.conclude(outcomes.filter(({ state }) => state === 'unknown').map(({ row }) => row.uid))
  suspectUnanswered(outcomes, deps)
  if (outcomes.some(({ state }) => state === 'copied') && troubles.length === 0)
    migration.gate.succeeded()
  if (troubles.length > 0) at.folderState.save().catch(() => undefined)
  migration.changed()
  // Errors of the whole migration take precedence over those of the folder.
  const [first] = troubles.toSorted(
    (a, b) => Number(a instanceof FolderStop) - Number(b instanceof FolderStop),
  )
  if (first) throw first
}

function recordOutcome(outcome: MessageOutcome, deps: RecordDeps): Stop | Reopen | null {
  const { folderState } = deps.at
  const { row } = outcome
  if (outcome.state === 'copied') return recordCopied(outcome, deps)
  if (outcome.state === 'gone') {
    folderState.gone(row.uid, row.size ?? 0)
    deps.evidence.missing.add(row.uid)
  }
  if (outcome.state === 'unfetchable') recordFailure(outcome, 'unfetchable', deps)
  return outcome.state === 'refused' ? recordRefused(outcome, deps) : null
}

function recordCopied(outcome: OutcomeOf<'copied'>, deps: RecordDeps): Reopen | null {
  const { row, to, uidValidity, size, digest, datedBy, date, announced, strategy } = outcome
  const { at, migration, folder } = deps
  if (to !== null && at.folderState.isOwnCopy(to)) return recordMerged(outcome, to, deps)
  at.folderState.copied([{ uid: row.uid, to, size, row, digest }])
  if (to === null) at.folderState.withoutUid += 1
  const { path: destination } = at.destinationFolder
  migration.onCopied({ folder, uid: row.uid, destination, to, size })
  if (migration.sync) migration.sync.changes.copied += 1
  if (to !== null)
    at.arrivals.add({
      uid: row.uid,
      to,
      bytes: size,
      moment: date === null ? null : epochMsOf(date),
    })
  if (strategy === 'without-keywords' || strategy === 'line-ends') {
    migration.note({ folder, uid: row.uid, message: NOTES[strategy] })
  }
  if (announced !== null) migration.note({ folder, message: NOTES.announced })
  noteChangedDate(row, datedBy, strategy, deps)
  noteDroppedKeywords(row.flags, deps)
  const isElsewhere =
    uidValidity !== null && uidValidity !== at.destinationFolder.opened.uidValidity
  return isElsewhere ? new Reopen('The destination assigned new UIDs to its messages.') : null
}

/**
 * The destination keeps equal messages once: it reports the UID of another copy. `verify` compares
 * the two.
 */
function recordMerged(
  { row, size, digest }: OutcomeOf<'copied'>,
  to: number,
  { at }: RecordDeps,
): null {
  at.folderState.copied([{ uid: row.uid, to: null, size, row, digest }])
  at.doubtful.push({ uid: row.uid, to, size, isMerged: true })
  return null
}

/** Notes a changed date; once for the folder where the source has no dates at all. */
function noteChangedDate(
  { uid, internalDate, isUnknown }: Metadata,
  datedBy: OutcomeOf<'copied'>['datedBy'],
  strategy: RetryStrategy,
  { migration, folder }: RecordDeps,
): void {
  if (isUnknown) return migration.note({ folder, uid, message: NOTES.undescribed })
  const date = sanitise(internalDate ?? '')
  const given =
    datedBy === 'nobody' ? 'a date set by the destination' : 'the date of its Date header'
  const isReal = internalDate !== null && serialiseDate(internalDate) !== null
  if (datedBy === 'source') return
  if (isReal && strategy !== 'as-is') {
    migration.note({
      folder,
      uid,
      message: `The destination rejected the date “${date}”. The message has ${given}.`,
    })
  } else if (datedBy === 'header') migration.note({ folder, message: NOTES.dateless })
  else if (datedBy === 'nobody') migration.note({ folder, uid, message: NOTES.undated })
  else
    migration.note({
      folder,
      uid,
      message: `The source’s date “${date}” is invalid. The message has ${given}.`,
    })
}

/** Notes each keyword once: a folder without keywords would fill the report. */
function noteDroppedKeywords(
  flags: readonly string[],
  { at, migration, folder, leftOut }: RecordDeps,
): void {
  if (!flags.some(isUserFlag)) return
  const { dropped } = storableFlags(flags, at.destinationFolder.opened.permanentFlags)
  for (const keyword of dropped.filter((flag) => isUserFlag(flag) && !leftOut.has(flag))) {
    leftOut.add(keyword)
    const message = `The keyword “${sanitise(keyword)}” was dropped: the destination does not store it.`
    migration.note({ folder, message })
  }
}

const NOTES = {
  'without-keywords': 'The destination accepted this message only without its keywords.',
  'line-ends': 'The destination accepted this message only with CRLF line ends (changed).',
  announced:
    'The source reports wrong sizes for messages of this folder. Their content was confirmed and copied unchanged.',
  dateless:
    'The source stores no dates for messages of this folder. They have the dates of their headers.',
  undescribed:
    'The source did not return the flags and the date of this message. It has no flags, and the date of its header.',
  undated: 'Neither the source nor this message has a valid date. The destination set one.',
}

function recordRefused(outcome: OutcomeOf<'refused'>, deps: RecordDeps): Stop | Reopen | null {
  const { migration, at, strategies } = deps
  const { refusal, row, next } = outcome
  const words = describeRefusal(refusal)
  if (isTemporary(refusal) && canPostpone(row.uid, refusal, deps)) migration.gate.close(refusal)
  else if (refusal.kind === 'over_quota')
    return new Stop('over_quota', `The destination is full: ${words}`)
  else if (refusal.kind === 'no_such_mailbox')
    return new Reopen(`“${at.destinationFolder.path}” disappeared: ${words}`)
  else if (refusal.kind === 'not_permitted')
    return new FolderStop('not_permitted', `“${at.destinationFolder.path}”: ${words}`)
  else if (refusal.kind === 'too_large') recordFailure(outcome, 'too_large', deps)
  else if (next !== null) strategies.set(row.uid, next)
  else recordFailure(outcome, 'refused', deps)
  return null
}

/**
 * Whether to retry a message later. A server that rejects it again and again without naming a delay
 * does not want it.
 */
function canPostpone(uid: number, { retryAfterMs }: Refusal, { evidence }: RecordDeps): boolean {
  const times = (evidence.postponements.get(uid) ?? 0) + 1
  if (retryAfterMs === null) evidence.postponements.set(uid, times)
  return times <= ENGINE_LIMITS.maxDelays
}

function recordFailure(
  { row, refusal }: { row: MessageOutcome['row']; refusal: Refusal },
  code: string,
  deps: RecordDeps,
): void {
  const attempts =
    1 +
    ['as-is', 'other-date', 'without-keywords', 'line-ends'].indexOf(
      deps.strategies.get(row.uid) ?? 'as-is',
    )
  const { uid, size, messageIds } = row
  const messageId = messageIdOf(messageIds)
  deps.at.folderState.failed({
    folder: deps.folder,
    uid,
    messageId,
    size,
    code,
    message: describeRefusal(refusal),
    attempts,
  })
}

/** Suspects the messages of the command at which a connection was lost. */
function suspectUnanswered(outcomes: readonly MessageOutcome[], deps: RecordDeps): void {
  const unanswered = outcomes.filter(
    (outcome) => outcome.state === 'unknown' || outcome.state === 'unsent',
  )
  for (const { wire } of new Set(unanswered.map((outcome) => outcome.appender))) {
    const its = unanswered.filter(({ appender, isSuspect }) => isSuspect && appender.wire === wire)
    suspectMessages(wire, its, deps)
    if (wire.lost?.reason === 'protocol') deps.migration.literals.mustSynchronize = true
  }
  // It is unknown which of them the source could not return: earlier output may be lost as well.
  if (deps.source.isSuspect())
    suspectMessages(
      deps.source,
      outcomes.filter(({ state }) => state === 'unread'),
      deps,
    )
}

function suspectMessages(
  wire: Wire,
  outcomes: readonly MessageOutcome[],
  { at, evidence, migration }: RecordDeps,
): void {
  const { lost } = wire
  if (outcomes.length === 0 || !lost || lost.reason === 'ours' || evidence.blamedWires.has(wire))
    return
  evidence.blamedWires.add(wire)
  if (lost.refusal && isTemporary(lost.refusal)) return migration.gate.close(lost.refusal)
  for (const { row } of outcomes) {
    evidence.descriptions.set(row.uid, {
      messageId: messageIdOf(row.messageIds),
      size: row.size,
      text: textOf(lost),
    })
  }
  at.folderState.countFailures(outcomes.map(({ row }) => row.uid))
}

function textOf(lost: ImapLost): string {
  return lost.refusal ? describeRefusal(lost.refusal) : lost.message
}

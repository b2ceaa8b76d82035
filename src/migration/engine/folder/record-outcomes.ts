import type { MigrationContext } from '../context.ts'
import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import {
  isSystemFlag,
  isUserFlag,
  epochMsOf,
  serialiseDate,
  storableFlags,
  storesSystemFlags,
} from '../../../net/imap/append/flags-and-dates.ts'
import {
  isTemporary,
  isThrottling,
  sanitise,
  type ImapLost,
  type ImapRefused,
  describeRefusal,
  type Refusal,
} from '../../../net/imap/connection/refusals.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import type { MessageOutcome, RetryStrategy } from './copy-batch.ts'
import { messageIdOf } from '../identify/message-fingerprint.ts'
import type { OpenIntent } from '../journal/folder-state.ts'
import type { OpenFolder } from './open-folder.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { FolderStop, Reopen, Stop } from '../stop.ts'

/** Failures of the messages of one folder. */
export type FailureEvidence = {
  /** Connections whose end is already attributed to a message. */
  blamedWires: WeakSet<Wire>
  /** Suspected messages, for the report. */
  descriptions: Map<number, SuspectDescription>
  /** How often the destination postponed these messages because of its limits. */
  postponements: Map<number, number>
  /** The successes (`RateLimitGate`) when a server was first busy at these messages. */
  busySince: Map<number, number>
  /** The successes when this round began. */
  successesBefore: number
  /** Whether a server was busy at a message in this round. */
  isBusy: boolean
  /** Connections that broke at this folder since a message was read or copied. */
  losses: number
  /** Whether a server named a delay in this round. */
  isDelayed: boolean
  /** What ended the batches of this round before their time. */
  interruption: ImapLost | ImapRefused | null
  /** How often connections broke at the metadata of these messages, requested alone. */
  unreadable: Map<number, number>
  /** Messages that the source listed but did not return. */
  missing: Set<number>
}

/** `isBusy`: the server said that it is busy; otherwise the connection broke. */
type SuspectDescription = {
  messageId: string | null
  size: number | null
  isBusy: boolean
  code: string
  text: string
}

export type RecordDeps = {
  migration: MigrationContext
  folder: string
  at: OpenFolder
  intent: OpenIntent
  strategies: Map<number, RetryStrategy>
  evidence: FailureEvidence
  /** Keywords of this folder that the destination does not store, in lower case. */
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
  const { gate } = migration
  const successes = gate.successes
  if (outcomes.some(({ state }) => state === 'copied')) gate.succeeded()
  noteBusy(outcomes, successes, deps)
  const troubles = outcomes
    .map((outcome) => recordOutcome(outcome, deps))
    .filter((trouble) => trouble !== null)
  intent.conclude(outcomes.filter(({ state }) => state === 'unknown').map(({ row }) => row.uid))
  suspectUnanswered(outcomes, deps)
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
  if (outcome.state === 'unfetchable') recordUnfetchable(outcome, deps)
  // `reconcile` may find its copy.
  if (outcome.state === 'unknown') noteAlterations(outcome, deps)
  return outcome.state === 'refused' ? recordRefused(outcome, deps) : null
}

function recordCopied(outcome: OutcomeOf<'copied'>, deps: RecordDeps): Reopen | null {
  const { row, uidValidity, size, digest, date } = outcome
  const { at, migration, folder } = deps
  const isElsewhere =
    uidValidity !== null && uidValidity !== at.destinationFolder.opened.uidValidity
  const to = isElsewhere ? null : outcome.to
  if (to !== null && isEarlier(to, at)) return recordMerged(outcome, to, deps)
  at.folderState.copied([{ uid: row.uid, to, size, row, digest }])
  deps.evidence.losses = 0
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
  noteAlterations(outcome, deps)
  // After it was opened again, the UIDs of APPENDUID are wrong, and not those of the folder.
  return isElsewhere && !at.isReopened
    ? new Reopen('The destination assigned new UIDs to its messages.')
    : null
}

/** Whether a message with this UID was there before: as another copy, or before the migration. */
function isEarlier(to: number, { folderState }: OpenFolder): boolean {
  return folderState.isOwnCopy(to) || to < folderState.saved.destinationUidNext
}

/**
 * The destination keeps equal messages once: it reports the UID of another message. `verify`
 * compares the two.
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

/** Notes what a message was sent without. */
function noteAlterations(
  { row, strategy, datedBy, announced }: OutcomeOf<'copied' | 'unknown'>,
  deps: RecordDeps,
): void {
  const { migration, folder } = deps
  if (strategy !== 'as-is' && strategy !== 'other-date')
    migration.note({ folder, uid: row.uid, message: NOTES[strategy] })
  if (announced !== null) migration.note({ folder, message: NOTES.announced })
  noteUndescribed(row, deps)
  noteChangedDate(row, datedBy, strategy, deps)
  noteDroppedFlags(row.flags, deps)
}

function noteUndescribed(
  { uid, isUnknown, hasNoFlags }: Metadata,
  { migration, folder }: RecordDeps,
): void {
  if (isUnknown) migration.note({ folder, uid, message: NOTES.undescribed })
  if (hasNoFlags) migration.note({ folder, uid, message: NOTES.flagless })
}

/** Notes a changed date; once for the folder where the source has no dates at all. */
function noteChangedDate(
  { uid, internalDate, isUnknown }: Metadata,
  datedBy: OutcomeOf<'copied'>['datedBy'],
  strategy: RetryStrategy,
  { migration, folder }: RecordDeps,
): void {
  if (isUnknown) return
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

/** Notes each flag once: a folder without keywords would fill the report. */
function noteDroppedFlags(
  flags: readonly string[],
  { at, migration, folder, leftOut }: RecordDeps,
): void {
  const { permanentFlags } = at.destinationFolder.opened
  if (!flags.some(isUserFlag) && storesSystemFlags(permanentFlags)) return
  const { dropped } = storableFlags(flags, permanentFlags)
  for (const flag of dropped) {
    if (leftOut.has(flag.toLowerCase()) || (!isUserFlag(flag) && !isSystemFlag(flag))) continue
    leftOut.add(flag.toLowerCase())
    const kind = isUserFlag(flag) ? 'keyword' : 'flag'
    const message = `The ${kind} “${sanitise(flag)}” was dropped: the destination does not store it.`
    migration.note({ folder, message })
  }
}

const NOTES = {
  'without-deleted': 'The destination accepted this message only without its flag \\Deleted.',
  'without-keywords': 'The destination accepted this message only without its keywords.',
  'line-ends': 'The destination accepted this message only with CRLF line ends (changed).',
  announced:
    'The source reports wrong sizes for messages of this folder. Their content was confirmed and copied unchanged.',
  dateless:
    'The source stores no dates for messages of this folder. They have the dates of their headers.',
  undescribed:
    'The source did not return the flags and the date of this message. It has no flags, and the date of its header.',
  flagless: 'The source did not return the flags of this message. It has none.',
  undated: 'Neither the source nor this message has a valid date. The destination set one.',
}

function recordRefused(outcome: OutcomeOf<'refused'>, deps: RecordDeps): Stop | Reopen | null {
  const { at, strategies } = deps
  const { refusal, row, next } = outcome
  const words = describeRefusal(refusal)
  if (refusal.kind === 'busy' && refusal.retryAfterMs === null)
    suspectBusy(outcome, 'refused', deps)
  else if (isThrottling(refusal) && canPostpone(row.uid, refusal, deps)) closeGate(refusal, deps)
  else if (refusal.kind === 'over_quota')
    return new Stop('over_quota', `The destination is full: ${words}`)
  else if (refusal.kind === 'no_such_mailbox')
    return new Reopen(`“${at.destinationFolder.path}” disappeared: ${words}`)
  else if (refusal.kind === 'not_permitted' && at.folderState.saved.copied === 0)
    return new FolderStop('not_permitted', `“${at.destinationFolder.path}”: ${words}`)
  else if (refusal.kind === 'too_large') recordFailure(outcome, 'too_large', deps)
  else if (next !== null) strategies.set(row.uid, next)
  else recordFailure(outcome, 'refused', deps)
  return null
}

function recordUnfetchable(outcome: OutcomeOf<'unfetchable'>, deps: RecordDeps): void {
  if (outcome.refusal.kind === 'busy') suspectBusy(outcome, 'unfetchable', deps)
  else recordFailure(outcome, 'unfetchable', deps)
}

/** Remembers when a server was first busy at a message, before what succeeded in the same batch. */
function noteBusy(
  outcomes: readonly MessageOutcome[],
  successes: number,
  { evidence: { busySince } }: RecordDeps,
): void {
  const isDone = (state: MessageOutcome['state']) => ['copied', 'there', 'gone'].includes(state)
  for (const { state, row } of outcomes)
    if (!isDone(state) && !busySince.has(row.uid)) busySince.set(row.uid, successes)
}

/**
 * Counts a failure of a message at which a server is busy. It waits with all others only while
 * nothing else succeeds: a server that works for others refuses this message.
 */
function suspectBusy(
  { row, refusal }: { row: Metadata; refusal: Refusal },
  code: string,
  deps: RecordDeps,
): void {
  const { at, evidence, migration } = deps
  evidence.isBusy = true
  describe(row, { isBusy: true, code, text: describeRefusal(refusal) }, evidence)
  at.folderState.countFailures([row.uid])
  if (!hasSucceededSince([row.uid], deps)) migration.gate.close(refusal)
}

function closeGate(
  refusal: Refusal,
  { evidence, migration }: Pick<RecordDeps, 'evidence' | 'migration'>,
): void {
  migration.gate.close(refusal)
  evidence.isDelayed ||= refusal.retryAfterMs !== null
}

function hasSucceededSince(uids: readonly number[], { evidence, migration }: RecordDeps): boolean {
  const { successes } = migration.gate
  return uids.some((uid) => successes > (evidence.busySince.get(uid) ?? successes))
}

function describe(
  { uid, messageIds, size }: Metadata,
  what: Pick<SuspectDescription, 'isBusy' | 'code' | 'text'>,
  { descriptions }: FailureEvidence,
): void {
  descriptions.set(uid, { messageId: messageIdOf(messageIds), size, ...what })
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
    ['as-is', 'other-date', 'without-deleted', 'without-keywords', 'line-ends'].indexOf(
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
  const unread = outcomes.filter((outcome) => outcome.state === 'unread')
  // It is unknown which of them the source could not return: earlier output may be lost as well.
  if (deps.source.isSuspect()) suspectMessages(deps.source, unread, deps)
  deps.evidence.interruption ??=
    (unread.length > 0 ? deps.source.lost : unanswered[0]?.appender.wire.lost) ?? null
  const refusal = unread[0]?.refusal
  if (refusal && isThrottling(refusal)) closeGate(refusal, deps)
}

function suspectMessages(wire: Wire, outcomes: readonly MessageOutcome[], deps: RecordDeps): void {
  const { at, evidence, migration } = deps
  const { lost } = wire
  if (outcomes.length === 0 || !lost || lost.reason === 'ours' || evidence.blamedWires.has(wire))
    return
  evidence.blamedWires.add(wire)
  evidence.losses += 1
  const uids = outcomes.map(({ row }) => row.uid)
  if (lost.refusal && isThrottling(lost.refusal)) return closeGate(lost.refusal, deps)
  if (lost.refusal && isTemporary(lost.refusal) && !hasSucceededSince(uids, deps))
    migration.gate.close(lost.refusal)
  for (const { row } of outcomes)
    describe(row, { isBusy: false, code: 'connection_lost', text: textOf(lost) }, evidence)
  at.folderState.countFailures(uids)
  // Each of these costs the whole time limit, so the messages are sent alone at once.
  if (lost.reason === 'timeout') at.folderState.countFailures(uids)
}

function textOf(lost: ImapLost): string {
  return lost.refusal ? describeRefusal(lost.refusal) : lost.message
}

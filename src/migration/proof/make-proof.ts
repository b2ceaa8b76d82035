import { VERSION } from '../../version.ts'
import type { Deletion } from '../engine/journal/deletions.ts'
import type { MigrationNote } from '../engine/context.ts'
import type { SavedFolder } from '../engine/journal/journal.ts'
import { parseUidSet } from '../engine/journal/uid-set.ts'
import { compareFolder } from './compare-folder.ts'
import type { SkippedMessages } from './compare-lists.ts'
import {
  isAccepted,
  PROOF_FORMAT,
  totalsOfFolders,
  verdictOfMailbox,
  type MailboxProof,
  type ProofFolder,
  type ProofLevel,
  type Reason,
} from './proof-document.ts'
import {
  createAdditionalExplainer,
  createMissingExplainer,
  type Explanation,
  type FolderHistory,
  type SkippedCounterpart,
} from './explain.ts'
import { PROOF_LIMITS } from './limits.ts'
import { MessageList, type KeyName, type ListedMessage } from './message-list.ts'
import { readMailbox, type ReadDeps, type ReadGroup } from './read-mailbox.ts'

export type ProofDeps = ReadDeps & {
  about: Pick<MailboxProof, 'migration' | 'source' | 'destination'>
  /** What the journal knows of a folder of the source. */
  historyOf: (folder: string) => Promise<FolderHistory>
  deletions: readonly Deletion[]
  notes: readonly MigrationNote[]
  allMailOnce: boolean
}

/** A message without a counterpart in its folder. */
type Unpaired = {
  key: string
  message: ListedMessage
  /** Of the source. */
  folder: string
  at: ProofFolder
  explanation: Explanation
}

/** What was found so far. Messages without a counterpart are listed up to a limit, and counted. */
type Findings = {
  folders: ProofFolder[]
  changes: Counts
  missing: Counts
  additional: Counts
  unpaired: Unpaired[]
  /** Messages of the destination, by the reasons why the source does not have them. */
  surplus: { key: string; reason: string }[]
  /** The exact keys of kept messages, for All Mail; null where they are not needed. */
  kept: Set<string> | null
}

/**
 * Makes the proof of a migration: reads both servers, compares every message, and explains what
 * differs. Only what the servers returned decides what is there; the journal explains the rest.
 * @throws Fault, Stop, ImapRefused, ImapLost, the signal’s reason
 */
export async function makeProof(deps: ProofDeps): Promise<MailboxProof> {
  const readFrom = new Date().toISOString()
  const found: Findings = {
    folders: [],
    changes: new Map(),
    missing: new Map(),
    additional: new Map(),
    unpaired: [],
    surplus: [],
    kept: deps.allMailOnce ? new Set() : null,
  }
  const leftOut = await readMailbox(deps, async (mailbox) => {
    for await (const group of mailbox.groups) await addGroup(group, found, deps)
    return mailbox.leftOut
  })
  findElsewhere(found)
  const [missing, changes] = [reasonsOf(found.missing), reasonsOf(found.changes)]
  return {
    format: PROOF_FORMAT,
    kind: 'mailbox',
    madeBy: `Portreeve ${VERSION}`,
    ...deps.about,
    level: deps.level,
    readFrom,
    readUntil: new Date().toISOString(),
    folders: found.folders,
    leftOut,
    changes,
    missing,
    additional: reasonsOf(found.additional),
    missingMessages: nameMissing(found.unpaired),
    notes: deps.notes
      .slice(0, PROOF_LIMITS.maxNotes)
      .map(({ folder, message }) => ({ folder, message })),
    totals: totalsOfFolders(found.folders),
    verdict: verdictOfMailbox({ missing, changes }),
  }
}

async function addGroup(group: ReadGroup, found: Findings, deps: ProofDeps): Promise<void> {
  const { destination, sources, target } = group
  const { messages: source, originOf } = joinSources(sources)
  const histories = await Promise.all(sources.map(async ({ folder }) => deps.historyOf(folder)))
  const skipped = skippedOf(source, originOf, histories)
  const compared = compareFolder(
    source,
    target.messages,
    { ...deps, ...target, skipped },
    found.changes,
  )
  const unreadable = sources.flatMap(({ unreadable: uids, unlisted, folder }) => [
    ...uids.map((uid) => ({ uid, folder, reason: 'unreadable' })),
    ...Array.from({ length: unlisted }, () => ({ uid: 0, folder, reason: 'not_listed' })),
  ])
  const at: ProofFolder = {
    destination,
    destinationUidValidity: target.uidValidity,
    sources: sources.map(({ folder, uidValidity, uidNext }) => ({ folder, uidValidity, uidNext })),
    source: compared.source,
    kept: compared.kept,
    additional: compared.additional,
    elsewhere: 0,
    unreadable: unreadable.length,
    missing: compared.onlySource.length + unreadable.length,
  }
  found.folders.push(at)
  const uids = new Set(target.messages.uids())
  const explainers = histories.map((history) =>
    createMissingExplainer(history, (uid) => uids.has(uid)),
  )
  const counterpart = createCounterpartFinder(source, target.messages, skipped, deps.level)
  for (const index of compared.onlySource.toSorted((a, b) => a - b)) {
    const message = source.get(index)
    const origin = originOf(index)
    const key = keyOf(source, index)
    const isRepeated = group.isAllMail && found.kept?.has(key) === true
    const explanation = isRepeated
      ? { reason: 'copied_in_other_folder', detail: null }
      : !group.isOpened
        ? { reason: 'not_opened', detail: null }
        : (explainers[origin]?.(message.uid, counterpart(index)) ?? {
            reason: 'not_found',
            detail: null,
          })
    addMissing(found, { key, message, folder: sources[origin]?.folder ?? '', at, explanation })
  }
  for (const { uid, folder, reason } of unreadable) {
    const message = { uid, size: 0, date: null, flags: '' }
    const explanation = { reason, detail: null }
    addMissing(found, { key: '', message, folder, at, explanation })
  }
  const explain = createAdditionalExplainer(
    histories.map(({ state }) => state),
    deps.deletions.filter(
      (deletion) =>
        deletion.destination === destination &&
        deletion.destinationUidValidity === target.uidValidity,
    ),
  )
  for (const index of compared.onlyDestination) {
    const { uid } = target.messages.get(index)
    const reason = explain(uid)
    count(found.additional, reason)
    if (found.surplus.length < PROOF_LIMITS.maxUnpaired)
      found.surplus.push({ key: keyOf(target.messages, index), reason })
  }
  if (found.kept && !group.isAllMail)
    for (const index of compared.keptIndexes) found.kept.add(keyOf(target.messages, index))
}

/** The messages of joined sources that the migration skipped. */
function skippedOf(
  source: MessageList,
  originOf: (index: number) => number,
  histories: readonly FolderHistory[],
): SkippedMessages {
  const setsOf = (of: (state: SavedFolder) => string | undefined) => {
    const sets = histories.map(({ state }) => parseUidSet((state && of(state)) ?? ''))
    return (index: number) => sets[originOf(index)]?.has(source.get(index).uid) === true
  }
  return {
    isSkipped: setsOf(({ there }) => there),
    isDiffering: setsOf(({ differing }) => differing),
  }
}

/** Finds out what the destination has of a message that has no counterpart of its own. */
function createCounterpartFinder(
  source: MessageList,
  destination: MessageList,
  { isDiffering }: SkippedMessages,
  level: ProofLevel,
): (index: number) => SkippedCounterpart {
  const keysOf = (name: KeyName) => {
    let keys: Set<string> | undefined
    return (index: number) => {
      keys ??= new Set(
        Array.from({ length: destination.count }, (_, other) =>
          destination.key(other, name).toString('latin1'),
        ),
      )
      return keys.has(source.key(index, name).toString('latin1'))
    }
  }
  const [hasExact, hasLoose, hasId] = [keysOf('exact'), keysOf('loose'), keysOf('id')]
  return (index) => ({
    content: level === 'full' ? hasLoose(index) : hasExact(index) && !isDiffering(index),
    id: hasId(index),
  })
}

function keyOf(list: MessageList, index: number): string {
  return list.key(index, 'exact').toString('latin1')
}

/** Several folders of the source can be copied to one. */
function joinSources(sources: ReadGroup['sources']) {
  const [first] = sources
  if (sources.length === 1 && first) return { messages: first.messages, originOf: () => 0 }
  const messages = new MessageList()
  const ends: number[] = []
  for (const { messages: each } of sources) {
    for (let index = 0; index < each.count; index++)
      messages.add(each.get(index), {
        exact: each.key(index, 'exact'),
        loose: each.key(index, 'loose'),
        id: each.key(index, 'id'),
      })
    ends.push(messages.count)
  }
  return { messages, originOf: (index: number) => ends.findIndex((end) => index < end) }
}

/** Numbers of messages by reason. */
type Counts = Map<string, number>

function count(counts: Counts, reason: string, by = 1): void {
  const number = (counts.get(reason) ?? 0) + by
  if (number === 0) counts.delete(reason)
  else counts.set(reason, number)
}

function addMissing({ missing, unpaired }: Findings, one: Unpaired): void {
  count(missing, one.explanation.reason)
  if (unpaired.length < PROOF_LIMITS.maxUnpaired) unpaired.push(one)
}

/** Finds messages that a user moved to another folder at the destination. */
function findElsewhere(found: Findings): void {
  const waiting = Map.groupBy(found.surplus, ({ key }) => key)
  found.unpaired = found.unpaired.filter(({ key, at, explanation }) => {
    const other = waiting.get(key)?.shift()
    if (!other) return true
    at.elsewhere += 1
    at.missing -= 1
    count(found.changes, 'folder')
    count(found.missing, explanation.reason, -1)
    count(found.additional, other.reason, -1)
    count(found.additional, 'of_other_folder')
    return false
  })
}

function reasonsOf(counts: Counts): Reason[] {
  return [...counts]
    .map(([reason, messages]) => ({ reason, messages }))
    .toSorted((a, b) => b.messages - a.messages || a.reason.localeCompare(b.reason))
}

function nameMissing(missing: readonly Unpaired[]): MailboxProof['missingMessages'] {
  return missing
    .filter(({ explanation }) => !isAccepted(explanation.reason))
    .slice(0, PROOF_LIMITS.maxNamedMessages)
    .map(({ folder, message: { uid, size }, explanation }) => ({
      folder,
      uid,
      size: size === 0 ? null : size,
      ...explanation,
    }))
}

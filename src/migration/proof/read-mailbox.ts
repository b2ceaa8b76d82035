import { listFolders, type Folder } from '../../net/imap/folders/list-folders.ts'
import { encodeMailbox, type ByteString } from '../../net/imap/folders/mailbox-name.ts'
import type { MailboxView } from '../../net/imap/folders/mailbox-view.ts'
import { ImapRefused, isTemporary } from '../../net/imap/connection/refusals.ts'
import { createConnectionPair, type ConnectionPair } from '../engine/connections/connection-pair.ts'
import type { MigrationAccount } from '../engine/connections/fresh-sign-in.ts'
import { createRateLimitGate } from '../engine/connections/rate-limit-gate.ts'
import { withRetries } from '../engine/connections/with-retries.ts'
import { isAllMail } from '../engine/folder/all-mail.ts'
import { recount } from '../engine/folder/list-messages.ts'
import type { SavedFolder } from '../engine/journal/journal.ts'
import { chooseFolders } from '../engine/plan/plan.ts'
import { Reopen } from '../engine/stop.ts'
import { WAIT_TIMES, type WaitTimes } from '../limits.ts'
import type { Logger } from '../../log.ts'
import type { ProofLevel } from './document.ts'
import { PROOF_LIMITS } from './limits.ts'
import { MessageList } from './message-list.ts'
import { readMessages, type ReadFolder } from './read-messages.ts'

export type ReadDeps = {
  source: MigrationAccount
  destination: MigrationAccount
  level: ProofLevel
  /** Paths, or all folders that hold messages. */
  folders: readonly string[] | 'all'
  /** The states of the migration’s folders, by path. */
  states: ReadonlyMap<string, SavedFolder>
  signal: AbortSignal
  log: Logger
  waitTimes?: WaitTimes
  /** Called for each message that was read, and with the number of all messages first. */
  onRead: () => void
  onCounted: (messages: number) => void
}

/** A folder of one side as it was read. */
export type ReadSide = ReadFolder & {
  exists: number
  uidValidity: number | null
  uidNext: number | null
  permanentFlags: string[] | null
}

/** A folder of the destination, and the folders of the source that were copied to it. */
export type ReadGroup = {
  /** Null for folders that were never copied. */
  destination: string | null
  isAllMail: boolean
  sources: (ReadSide & {
    folder: string
    /** Messages that the source claims to have and does not list. */
    unlisted: number
  })[]
  target: ReadSide
}

const NOTHING: ReadSide = {
  messages: new MessageList(),
  unreadable: [],
  exists: 0,
  uidValidity: null,
  uidNext: null,
  permanentFlags: null,
}

/** What was left out, and the folders of both sides, one after the other. */
export type ReadMailbox = {
  leftOut: { folder: string; messages: number | null }[]
  groups: AsyncGenerator<ReadGroup>
}

/**
 * Reads both sides of a migration, folder by folder. Broken connections are replaced, and delays that
 * a server requests are kept.
 * @param work receives the folders while both connections are open
 */
export async function readMailbox<T>(
  deps: ReadDeps,
  work: (mailbox: ReadMailbox) => Promise<T>,
): Promise<T> {
  const { signal, log, waitTimes = WAIT_TIMES } = deps
  const gate = createRateLimitGate(waitTimes, () => undefined)
  const shared = { ...deps, gate, waitTimes, signal, log }
  const pair = createConnectionPair({ ...shared, isOptional: () => false })
  const destroy = () => pair.destroy()
  signal.addEventListener('abort', destroy, { once: true })
  try {
    const retried = <R>(attempt: () => Promise<R>) => withRetries(shared, attempt)
    const [here, there] = await retried(async () => {
      const sides = await Promise.all([pair.source(), pair.destination()])
      return Promise.all(sides.map(async (side) => listFolders(side)))
    })
    if (!here || !there) throw new Error('both sides were listed')
    const chosen = chooseFolders(here, deps.folders).filter(({ isSelectable }) => isSelectable)
    const paths = new Set(chosen.map(({ path }) => path))
    const leftOut = here.folders
      .filter(({ path, isSelectable }) => isSelectable && !paths.has(path))
      .map(({ path, messages }) => ({ folder: path, messages }))
    const names = new Map(there.folders.map(({ path, pathAsListed }) => [path, pathAsListed]))
    const targets = new Set(chosen.map(({ path }) => deps.states.get(path)?.destination))
    const counted = [...chosen, ...there.folders.filter(({ path }) => targets.has(path))]
    deps.onCounted(counted.reduce((sum, { messages }) => sum + (messages ?? 0), 0))
    return await work({ leftOut, groups: readGroups(pair, chosen, names, retried, deps) })
  } finally {
    signal.removeEventListener('abort', destroy)
    await pair.close()
  }
}

type Retried = <R>(attempt: () => Promise<R>) => Promise<R>

async function* readGroups(
  pair: ConnectionPair,
  chosen: readonly Folder[],
  names: ReadonlyMap<string, string>,
  retried: Retried,
  { states, level, onRead }: ReadDeps,
): AsyncGenerator<ReadGroup> {
  const groups = Map.groupBy(chosen, ({ path }) => states.get(path)?.destination ?? `\0${path}`)
  // All Mail repeats the messages of the others, which have to be known first.
  const order = [...groups].toSorted(
    ([, a], [, b]) => Number(a.some(isAllMail)) - Number(b.some(isAllMail)),
  )
  for (const [key, folders] of order) {
    const destination = key.startsWith('\0') ? null : key
    const sources = []
    for (const { path, pathAsListed } of folders) {
      const open = () => pair.sourceFolder(pathAsListed)
      const side = await readSide(open, retried, level, onRead)
      const unlisted = await retried(async () => findUnlisted(await open(), pathAsListed, side))
      sources.push({ ...side, ...unlisted, folder: path })
    }
    const name =
      destination === null ? null : (names.get(destination) ?? encodeMailbox(destination))
    const target =
      name === null
        ? NOTHING
        : await unlessMissing(readSide(() => pair.destinationFolder(name), retried, level, onRead))
    yield { destination, isAllMail: folders.some(isAllMail), sources, target }
  }
}

/**
 * Finds messages that the source claims to have and that were not read: those that it lists are
 * unreadable, the others are counted.
 */
async function findUnlisted(
  view: MailboxView,
  name: ByteString,
  { exists, messages, unreadable }: ReadSide,
): Promise<Pick<ReadGroup['sources'][number], 'unreadable' | 'unlisted'>> {
  const known = new Set([...unreadable, ...messages.uids()])
  if (known.size >= exists) return { unreadable, unlisted: 0 }
  const { uids, claimed } = await recount(view, name)
  const unread = uids.filter((uid) => !known.has(uid))
  return { unreadable: [...unreadable, ...unread], unlisted: claimed - uids.length }
}

/** Reads a folder, again from its beginning after a lost connection or new UIDs. */
async function readSide(
  open: () => Promise<MailboxView>,
  retried: Retried,
  level: ProofLevel,
  onRead: () => void,
): Promise<ReadSide> {
  for (let tries = 1; ; tries++) {
    try {
      return await retried(async () => {
        const view = await open()
        const { exists, uidValidity, uidNext, permanentFlags } = await view.reopen()
        const to = exists === 0 ? 0 : (uidNext ?? 2 ** 32) - 1
        const read = await readMessages(view, to, level, onRead)
        return { ...read, exists, uidValidity, uidNext, permanentFlags }
      })
    } catch (error) {
      if (!(error instanceof Reopen) || tries >= PROOF_LIMITS.maxReopens) throw error
    }
  }
}

/** A folder that was deleted at the destination has no messages. */
async function unlessMissing(reading: Promise<ReadSide>): Promise<ReadSide> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof ImapRefused) || isTemporary(error.refusal)) throw error
    return NOTHING
  }
}

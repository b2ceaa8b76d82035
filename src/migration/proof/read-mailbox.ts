import { listReadableFolders, type Folder } from '../../net/imap/folders/list-folders.ts'
import { encodeMailbox, type ByteString } from '../../net/imap/folders/mailbox-name.ts'
import type { MailboxView } from '../../net/imap/folders/mailbox-view.ts'
import { ImapLost, ImapRefused, isThrottling } from '../../net/imap/connection/refusals.ts'
import { createConnectionPair, type ConnectionPair } from '../engine/connections/connection-pair.ts'
import type { MigrationAccount } from '../engine/connections/fresh-sign-in.ts'
import { createRateLimitGate } from '../engine/connections/rate-limit-gate.ts'
import { withRetries, type LossBlame } from '../engine/connections/with-retries.ts'
import { isAllMail } from '../engine/folder/all-mail.ts'
import { recount, uidsBelow } from '../engine/folder/list-messages.ts'
import type { SavedFolder } from '../engine/journal/journal.ts'
import { chooseFolders } from '../engine/plan/plan.ts'
import { Reopen, Stop } from '../engine/stop.ts'
import { WAIT_TIMES, type WaitTimes } from '../limits.ts'
import type { Logger } from '../../log.ts'
import type { ProofLevel } from './proof-document.ts'
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
type ReadSide = ReadFolder & {
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
  /** False where the destination does not open its folder: its messages are not known. */
  isOpened: boolean
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
    const [here, there] = await withRetries(shared, () =>
      Promise.all([
        listReadableFolders(() => pair.source()),
        listReadableFolders(() => pair.destination()),
      ]),
    )
    if (deps.folders === 'all' && here.isPartial)
      throw new Stop(
        'not_listed',
        'The source refuses to list its folders: whether all are copied cannot be proven.',
      )
    const chosen = chooseFolders(here, deps.folders).filter(({ isSelectable }) => isSelectable)
    const paths = new Set(chosen.map(({ path }) => path))
    const leftOut = here.folders
      .filter(({ path, isSelectable }) => isSelectable && !paths.has(path))
      .map(({ path, messages }) => ({ folder: path, messages }))
    const names = new Map(there.folders.map(({ path, pathAsListed }) => [path, pathAsListed]))
    const targets = new Set(chosen.map(({ path }) => deps.states.get(path)?.destination))
    const counted = [...chosen, ...there.folders.filter(({ path }) => targets.has(path))]
    deps.onCounted(counted.reduce((sum, { messages }) => sum + (messages ?? 0), 0))
    const retried: Retried = (attempt, blameFor) => withRetries(shared, attempt, blameFor)
    return await work({ leftOut, groups: readGroups(pair, chosen, names, retried, deps) })
  } finally {
    signal.removeEventListener('abort', destroy)
    await pair.close()
  }
}

type Retried = <R>(attempt: () => Promise<R>, blameFor: LossBlame) => Promise<R>

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
  const at =
    (name: ByteString): LossBlame =>
    (lost) =>
      pair.blameFor(lost, { source: name, destination: name })
  /** Gives the error of a folder that the server does not open, or at which it ends the connection. */
  const unlessUnreadable = async <R>(
    name: ByteString,
    work: (retry: <T>(attempt: () => Promise<T>) => Promise<T>) => Promise<R>,
  ): Promise<R | ImapLost | ImapRefused> => {
    try {
      return await work((attempt) => retried(attempt, at(name)))
    } catch (error) {
      if (error instanceof ImapLost && at(name)(error) === 'here') return error
      if (error instanceof ImapRefused && !isThrottling(error.refusal)) return error
      throw error
    }
  }
  for (const [key, folders] of order) {
    const destination = key.startsWith('\0') ? null : key
    const sources = []
    for (const { path, pathAsListed, messages } of folders) {
      const open = () => pair.sourceFolder(pathAsListed)
      const read = await unlessUnreadable(pathAsListed, async (retry) => {
        const side = await readSide(open, retry, level, onRead)
        const unlisted = await retry(async () => findUnlisted(await open(), side, messages))
        return { ...side, ...unlisted }
      })
      const unread = { ...NOTHING, unlisted: Math.max(1, messages ?? 1) }
      sources.push({ folder: path, ...(read instanceof Error ? unread : read) })
    }
    const name =
      destination === null ? null : (names.get(destination) ?? encodeMailbox(destination))
    const target =
      name === null
        ? NOTHING
        : await unlessUnreadable(name, (retry) =>
            readSide(() => pair.destinationFolder(name), retry, level, onRead),
          )
    yield {
      destination,
      isAllMail: folders.some(isAllMail),
      sources,
      target: target instanceof Error ? NOTHING : target,
      isOpened: !(target instanceof Error) || isMissing(target),
    }
  }
}

/** A folder that was deleted at the destination has no messages. */
function isMissing({ refusal }: ImapLost | ImapRefused): boolean {
  return refusal?.kind === 'no_such_mailbox'
}

/**
 * Finds messages that the source claims to have, by EXISTS, STATUS or SEARCH, and that were not read:
 * those that it lists are unreadable, the others are counted. Messages that arrived since do not
 * count.
 * @param counted by STATUS, before the folder was read
 */
async function findUnlisted(
  view: MailboxView,
  { exists, uidNext, messages, unreadable }: ReadSide,
  counted: number | null,
): Promise<Pick<ReadGroup['sources'][number], 'unreadable' | 'unlisted'>> {
  const known = new Set([...unreadable, ...messages.uids()])
  const before = uidNext ?? 2 ** 32
  const listed = await uidsBelow(view, before)
  if (known.size >= Math.max(exists, counted ?? 0) && listed.every((uid) => known.has(uid)))
    return { unreadable, unlisted: 0 }
  const { uids, claimed } = await recount(view)
  const unread = uids.filter((uid) => !known.has(uid))
  const earlier = unread.filter((uid) => uid < before)
  // A UIDNEXT that is too small does not turn what was there before into arrivals.
  const isExplained = known.size + earlier.length >= exists
  return {
    unreadable: [...unreadable, ...(isExplained ? earlier : unread)],
    unlisted: claimed - uids.length,
  }
}

/** Reads a folder, again from its beginning after a lost connection or new UIDs. */
async function readSide(
  open: () => Promise<MailboxView>,
  retry: <T>(attempt: () => Promise<T>) => Promise<T>,
  level: ProofLevel,
  onRead: () => void,
): Promise<ReadSide> {
  for (let tries = 1; ; tries++) {
    try {
      return await retry(async () => {
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

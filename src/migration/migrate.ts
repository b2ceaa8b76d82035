import { Fault, messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { createWindow, type Window } from '../net/imap/append-window.ts'
import { listFolders, type Folder, type Listing } from '../net/imap/folders.ts'
import { decodeMailbox, encodeMailbox } from '../net/imap/mailbox-name.ts'
import { ImapLost, ImapRefused } from '../net/imap/refusals.ts'
import type { Namespace } from '../net/imap/session.ts'
import { createFolderCopy, type FolderCopy, type Migration, type Note } from './folder.ts'
import { createGate, type Gate } from './gate.ts'
import type { Journal } from './journal.ts'
import { createLane, NoMoreConnections, type Lane, type Side } from './lane.ts'
import { LIMITS, PATIENCE, type Patience } from './limits.ts'
import { isInbox, mapFolders, type Hierarchy, type Mapped } from './mapping.ts'
import { persist } from './persist.ts'
import type { Destination } from './place.ts'
import { createRate, progressOf, type Progress } from './progress.ts'
import { codeOf, Stop } from './stop.ts'

export type MigrateOptions = {
  /** Under which everything goes; levels with slashes. Default "": beside what is there. */
  prefix?: string
  /** Source path to destination path. */
  folderMap?: Readonly<Record<string, string>>
  /** Leave out what is at the destination already, by Message-ID or content. */
  deduplicate?: boolean
  /** Folders for sent, drafts, trash … go to the destination's of the same use, whatever their names. */
  specialUse?: boolean
  /** Map and count, copy nothing. */
  dryRun?: boolean
  /** In a folder of an earlier run: take what came since, too. */
  withNewMail?: boolean
  /** Pairs of connections, at most. */
  connections?: number
}

export type MigrateDeps = {
  source: Side
  destination: Side
  /** Paths as listed, or all that hold messages. */
  folders: readonly string[] | 'all'
  options?: MigrateOptions
  journal: Journal
  signal: AbortSignal
  log: Logger
  /** Called at most every `LIMITS.progress` milliseconds, and at the end. */
  onProgress?: (progress: Progress) => void
  patience?: Patience
}

/** How it ended. `completed`: every source message is copied, was there, or is gone from the source by now. */
export type Outcome = {
  state: 'completed' | 'failed'
  progress: Progress
  /** Where each folder went. */
  folders: Mapped[]
  /** What was not kept exactly as it was. */
  notes: Note[]
  /** Why it ended before its time; it can be resumed. */
  stopped: { code: string; message: string } | null
}

/** Shared by all migrations of this process: however many run, so much of messages is in memory. */
const bodies: Window = createWindow({ commands: Infinity, bytes: LIMITS.bodies })

/**
 * Copies folders of one account into another, as far as the journal says that it is not done yet, and verifies it.
 * Whatever is not copied is in the journal's failures. Resumes after any end with the same journal and options.
 * @throws the signal's reason when it aborts, and what the journal throws
 */
export async function migrateMailbox(deps: MigrateDeps): Promise<Outcome> {
  const { journal, options = {}, patience = PATIENCE } = deps
  const own = new AbortController()
  const signal = AbortSignal.any([deps.signal, own.signal])
  const notes: Note[] = []
  const board = createBoard(deps.onProgress ?? (() => undefined))
  const gate = createGate(patience, () => board.changed())
  const laneDeps = { ...deps, gate, patience, signal }
  const first = createLane({ ...laneDeps, isOptional: () => false })
  const lanes = [first]
  const leave = onceAborted(signal, () => lanes.forEach((lane) => lane.destroy()))
  let plan: Plan | null = null
  try {
    plan = await persist(laneDeps, () => planMigration(first, deps))
    const shared = {
      ...laneDeps,
      bodies,
      shapes: new Set<string>(),
      deduplicate: options.deduplicate ?? false,
      withNewMail: options.withNewMail ?? false,
    }
    const migration: Migration = {
      ...shared,
      destination: plan.destination,
      changed: () => board.changed(),
      note: (note) => notes.length < LIMITS.notes && notes.push(note),
    }
    const copies = plan.routes.map(({ folder, mapped }) => createFolderCopy(migration, folder, mapped.destination))
    board.show(copies, gate)
    if (!options.dryRun) await copyAll(copies, lanes, laneDeps, own, options.connections ?? LIMITS.connections)
    return outcomeOf(plan, board.finish(0), notes, null)
  } catch (error) {
    deps.signal.throwIfAborted()
    if (!isOfServers(error)) throw error
    const stopped = { code: codeOf(error), message: messageOf(error) }
    await journal.report({ folder: '', uid: null, messageId: null, size: null, attempts: 1, ...stopped })
    return outcomeOf(plan, board.finish(1), notes, stopped)
  } finally {
    leave()
    await Promise.all(lanes.map((lane) => lane.close()))
  }
}

function isOfServers(error: unknown): boolean {
  return error instanceof Stop || error instanceof Fault || error instanceof ImapLost || error instanceof ImapRefused
}

function outcomeOf(plan: Plan | null, progress: Progress, notes: Note[], stopped: Outcome['stopped']): Outcome {
  const folders = plan?.routes.map(({ mapped }) => mapped) ?? []
  return { state: progress.errorCount === 0 ? 'completed' : 'failed', progress, folders, notes, stopped }
}

/** Lets what is on its way end well, but not for ever. */
function onceAborted(signal: AbortSignal, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const start = () => (timer = setTimeout(act, LIMITS.stopGrace))
  signal.addEventListener('abort', start, { once: true })
  return () => {
    signal.removeEventListener('abort', start)
    clearTimeout(timer)
  }
}

type Plan = { routes: { folder: Folder; mapped: Mapped }[]; destination: Destination }

/** Which folders there are and where they go. */
async function planMigration(lane: Lane, { source, destination, folders, options = {} }: MigrateDeps): Promise<Plan> {
  const [from, to] = await Promise.all([lane.source(), lane.destination()])
  const [here, there] = await Promise.all([listFolders(from), listFolders(to)])
  const chosen = choose(here, folders)
  const hierarchy = hierarchyOf(there, to.namespace)
  const uses = there.folders.flatMap(({ specialUse, path }) => (specialUse ? [[specialUse, path] as const] : []))
  const mapped = mapFolders(chosen, hierarchyOf(here, from.namespace), hierarchy, {
    prefix: options.prefix ?? '',
    folderMap: options.folderMap ?? {},
    specialUse: new Map(options.specialUse ? uses : []),
  })
  if (isSameAccount(source, destination)) refuseOverlap(mapped)
  const routes = mapped.map((each, index) => ({ folder: chosen[index] as Folder, mapped: each }))
  const listed = new Map(there.folders.filter((folder) => folder.isSelectable).map((f) => [f.path, f.pathAsListed]))
  return { routes, destination: { hierarchy, listed, taken: new Set(mapped.map((each) => each.destination)) } }
}

/** Folders that only hold others (`\Noselect`) have nothing to copy. One that is not listed may exist all the same. */
function choose({ folders: listed }: Listing, wanted: readonly string[] | 'all'): Folder[] {
  if (wanted === 'all') return listed.filter(({ isSelectable }) => isSelectable)
  const byPath = new Map(listed.map((folder) => [isInbox(folder.path) ? 'INBOX' : folder.path, folder]))
  const found = wanted.map((path) => byPath.get(isInbox(path) ? 'INBOX' : path) ?? unlisted(path))
  return found.filter(({ isSelectable }) => isSelectable)
}

function unlisted(path: string): Folder {
  const unknown = { delimiter: null, flags: [], specialUse: null, messages: null, unseen: null }
  return { path, name: path, pathAsListed: encodeMailbox(path), isSelectable: true, subscribed: false, ...unknown }
}

/** How a side writes its folders. */
export function hierarchyOf({ folders }: Listing, namespace: Namespace | null): Hierarchy {
  const listed = folders.find(({ delimiter }) => delimiter !== null)?.delimiter ?? null
  return { delimiter: namespace?.delimiter ?? listed, prefix: decodeMailbox(namespace?.prefix ?? '') }
}

function isSameAccount({ account: a }: Side, { account: b }: Side): boolean {
  const isSamePort = a.port === b.port || [a.port, b.port].every((port) => port === 143 || port === 993)
  const isSameHost = a.target.addresses.some((address) => b.target.addresses.includes(address))
  return isSameHost && isSamePort && a.user.toLowerCase() === b.user.toLowerCase()
}

/** Copying a folder into one that is copied would find its own copies to copy. */
function refuseOverlap(mapped: readonly Mapped[]): void {
  const sources = new Set(mapped.map(({ source }) => source))
  const overlap = mapped.find(({ destination }) => sources.has(destination))
  if (!overlap) return
  const sentence = `Source and destination are the same mailbox: “${overlap.source}” would be copied into “${overlap.destination}”.`
  throw new Stop('same_mailbox', sentence)
}

/** The first pair of connections begins; others join where there is enough to do and the servers let them. */
async function copyAll(
  copies: FolderCopy[],
  lanes: Lane[],
  deps: Omit<Parameters<typeof createLane>[0], 'isOptional'>,
  own: AbortController,
  most: number,
): Promise<void> {
  const messages = copies.reduce((sum, { folder }) => sum + (folder.messages ?? LIMITS.messagesPerConnection), 0)
  const wanted = Math.min(most, Math.ceil(messages / LIMITS.messagesPerConnection))
  const drives = lanes.map((lane) => drive(lane, copies, deps.signal))
  for (let index = 1; index < wanted; index++) {
    let isOptional = true
    const lane = createLane({ ...deps, isOptional: () => isOptional })
    lanes.push(lane)
    drives.push(
      Promise.all([lane.source(), lane.destination()]).then(() => {
        isOptional = false
        return drive(lane, copies, deps.signal)
      }),
    )
  }
  const results = await Promise.allSettled(
    drives.map((driving) => driving.catch((error: unknown) => endAll(error, own))),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
  if (own.signal.aborted) throw own.signal.reason
}

function endAll(error: unknown, own: AbortController): void {
  if (!(error instanceof NoMoreConnections)) own.abort(error)
}

async function drive(lane: Lane, copies: readonly FolderCopy[], signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const next = copies.find(({ state }) => state === 'waiting')
    if (next) await next.run(lane)
    else {
      const running = copies.filter(({ state }) => state === 'running')
      await Promise.all(running.map(({ opened }) => opened))
      const [most] = running.toSorted((a, b) => b.waiting - a.waiting)
      if (!most || most.waiting < LIMITS.messagesPerConnection / 2) return
      await most.help(lane)
    }
  }
}

type Board = {
  show(copies: readonly FolderCopy[], gate: Gate): void
  changed(): void
  finish(stopped: number): Progress
}

/** Shows progress now and then, however often it changes. */
function createBoard(onProgress: (progress: Progress) => void): Board {
  const rate = createRate()
  let shown: readonly FolderCopy[] = []
  let gate: Gate | null = null
  let timer: NodeJS.Timeout | undefined

  const read = (stopped: number) => progressOf(shown, { rate, stopped, throttledUntil: gate?.closedUntil ?? null })
  function tell(): void {
    timer = undefined
    onProgress(read(0))
  }

  return {
    show(copies, closing) {
      shown = copies
      gate = closing
      tell()
    },
    changed: () => (timer ??= setTimeout(tell, LIMITS.progress)),
    finish(stopped) {
      clearTimeout(timer)
      // Nothing may be told after the end.
      timer = setTimeout(() => undefined, 0)
      const progress = read(stopped)
      onProgress(progress)
      return progress
    },
  }
}

import type { CopyFailure, Journal, SavedFolder } from './journal.ts'
import { createUidSet, parseUidSet, type UidSet } from './uid-set.ts'

/**
 * A copied message: source UID, destination UID (null where the server did not report it), bytes.
 */
export type CopiedMessage = { uid: number; to: number | null; size: number }

/** The state of one folder: processed messages, open batches, and the part that the journal has. */
export type FolderState = {
  readonly saved: SavedFolder
  /** Source UIDs left to copy, ascending. Sets the UIDs that `lastUid` refers to. */
  start(sourceUids: readonly number[]): number[]
  isDone(uid: number): boolean
  /** Number of messages left. */
  readonly left: number
  /** Number of messages that were copied, already there, or failed. */
  readonly processedCount: number
  readonly skippedCount: number
  readonly failedCount: number
  /** Bytes of all processed messages, copied or not. */
  readonly bytes: number
  readonly lastUid: number
  /**
   * Records a batch before it is sent. Durable when it resolves: only then may its last byte be
   * sent.
   */
  recordIntent(uids: readonly number[]): Promise<OpenIntent>
  copied(copies: readonly CopiedMessage[]): void
  /** The destination has the message from elsewhere, or we copied it to another folder. */
  skipped(uid: number, size: number): void
  /** The message was deleted at the source meanwhile. */
  gone(uid: number, size: number): void
  failed(failure: CopyFailure & { uid: number }): void
  failureCountOf(uid: number): number
  /** Sum over all messages. */
  readonly totalFailureCount: number
  countFailures(uids: readonly number[]): void
  /**
   * Batches without a known outcome, and the smallest UID that they can have at the destination.
   */
  unresolvedBatches(): { uids: number[]; uidNext: number } | null
  /** Removes the open batches once each of their messages is recorded or left to copy. */
  clearIntents(): Promise<void>
  isOwnCopy(destinationUid: number): boolean
  isExisting(uid: number): boolean
  /** Saves the state to the journal. */
  save(): Promise<void>
  /**
   * Marks the folder as done.
   * @param sourceModseq modification sequence of the source up to which all flags are at the
   *   destination
   */
  finish(sourceModseq: string | null): Promise<void>
}

export type OpenIntent = {
  /** Ends a batch. It is unknown whether these messages arrived. */
  conclude(unknown: readonly number[]): void
}

export function createFolderState(
  journal: Journal,
  folder: string,
  initial: SavedFolder,
): FolderState {
  const books = { ...initial }
  const beyond = parseUidSet(initial.beyond)
  const again = parseUidSet(initial.again)
  const there = parseUidSet(initial.there)
  const failedUids = parseUidSet(initial.failed)
  const copiedTo = parseUidSet(initial.copiedTo)
  const suspicions = new Map(initial.suspicions)
  const open = new Set<{ uids: UidSet; uidNext: number }>()
  for (const { uids, uidNext } of initial.intents) open.add({ uids: parseUidSet(uids), uidNext })
  let order: number[] = []
  let position = 0
  let left = 0
  let nextUid = initial.destinationUidNext
  let unwritten: CopyFailure[] = []
  const save = createSaver(write)

  async function write(): Promise<void> {
    const taken = unwritten
    unwritten = []
    try {
      await journal.save(folder, snapshot(), taken)
    } catch (error) {
      unwritten = [...taken, ...unwritten]
      throw error
    }
  }

  function snapshot(): SavedFolder {
    return {
      ...books,
      beyond: beyond.toString(),
      again: again.toString(),
      there: there.toString(),
      failed: failedUids.toString(),
      copiedTo: copiedTo.toString(),
      suspicions: [...suspicions],
      intents: [...open].map(({ uids, uidNext }) => ({ uids: uids.toString(), uidNext })),
    }
  }

  function conclude(uid: number): void {
    if (isDone(uid)) return
    left -= 1
    suspicions.delete(uid)
    if (uid <= books.lastUid) again.delete(uid)
    else beyond.add(uid)
    const before = books.lastUid
    for (
      let next = order[position];
      next !== undefined && isDone(next);
      next = order[(position += 1)]
    ) {
      books.lastUid = Math.max(books.lastUid, next)
    }
    if (books.lastUid > before) beyond.dropBelow(books.lastUid + 1)
  }

  function isDone(uid: number): boolean {
    return uid <= books.lastUid ? !again.has(uid) : beyond.has(uid)
  }

  return {
    get saved() {
      return snapshot()
    },
    start(sourceUids) {
      order = sourceUids.filter((uid) => uid > books.lastUid)
      position = 0
      if (again.size > 0) {
        const isHere = new Set(sourceUids)
        for (const uid of again) if (!isHere.has(uid)) again.delete(uid)
      }
      const todo = sourceUids.filter((uid) => !isDone(uid))
      left = todo.length
      return todo
    },
    isDone,
    get left() {
      return left
    },
    get skippedCount() {
      return there.size
    },
    get failedCount() {
      return failedUids.size
    },
    get bytes() {
      return books.bytes + books.aside
    },
    get lastUid() {
      return books.lastUid
    },
    get processedCount() {
      return books.copied + there.size + failedUids.size
    },
    async recordIntent(uids) {
      const intent = { uids: createUidSet(uids), uidNext: nextUid }
      open.add(intent)
      await save()
      return {
        conclude(unknown) {
          if (unknown.length === 0) open.delete(intent)
          else intent.uids = createUidSet(unknown)
        },
      }
    },
    copied(copies) {
      for (const { uid, to, size } of copies) {
        if (to !== null) copiedTo.add(to)
        if (to !== null && to >= nextUid) nextUid = to + 1
        books.copied += 1
        books.bytes += size
        conclude(uid)
      }
    },
    skipped(uid, size) {
      there.add(uid)
      books.aside += size
      conclude(uid)
    },
    gone(uid, size) {
      books.aside += size
      conclude(uid)
    },
    failed(failure) {
      failedUids.add(failure.uid)
      books.aside += failure.size ?? 0
      unwritten.push(failure)
      conclude(failure.uid)
    },
    failureCountOf: (uid) => suspicions.get(uid) ?? 0,
    get totalFailureCount() {
      return [...suspicions.values()].reduce((sum, times) => sum + times, 0)
    },
    countFailures(uids) {
      for (const uid of uids) suspicions.set(uid, (suspicions.get(uid) ?? 0) + 1)
    },
    unresolvedBatches() {
      const uids = [...open].flatMap((intent) => [...intent.uids]).filter((uid) => !isDone(uid))
      if (uids.length === 0) return null
      return {
        uids: uids.toSorted((a, b) => a - b),
        uidNext: Math.min(...[...open].map(({ uidNext }) => uidNext)),
      }
    },
    clearIntents: async () => {
      open.clear()
      await save()
    },
    isOwnCopy: (uid) => copiedTo.has(uid),
    isExisting: (uid) => there.has(uid),
    save,
    finish: async (sourceModseq) => {
      books.sourceModseq = sourceModseq
      books.isDone = true
      await save()
    },
  }
}

/** Combines saves: one write after the current one serves all callers. */
function createSaver(write: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null

  async function run(): Promise<void> {
    next = null
    running = write()
    try {
      await running
    } finally {
      running = null
    }
  }

  return () => (next ??= running ? running.then(run, run) : Promise.resolve().then(run))
}

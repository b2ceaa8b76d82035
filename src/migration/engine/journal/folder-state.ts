import type { Failure, Journal, SavedFolder } from './journal.ts'
import { createUidSet, parseUidSet, type UidSet } from './uid-set.ts'

/** One message's copy: source UID, destination UID where it was told, and bytes. */
export type CopiedMessage = { uid: number; to: number | null; size: number }

/**
 * The books of one folder: what is dealt with, what is under way, and what the journal knows of it.
 */
export type FolderState = {
  readonly saved: SavedFolder
  /** Source UIDs that are left to do, ascending. Sets what `lastUid` is measured by. */
  start(sourceUids: readonly number[]): number[]
  isDone(uid: number): boolean
  /** How many of those are left. */
  readonly left: number
  /** How many of the folder are copied, were there, or failed. */
  readonly processedCount: number
  readonly skippedCount: number
  readonly failedCount: number
  /** Of all that is dealt with, copied or not. */
  readonly bytes: number
  readonly lastUid: number
  /** Announces a batch. Durable when it resolves: only then may its last byte be sent. */
  recordIntent(uids: readonly number[]): Promise<OpenIntent>
  copied(copies: readonly CopiedMessage[]): void
  /** There is a copy at the destination that is not ours, or ours in another folder. */
  skipped(uid: number, size: number): void
  /** It vanished from the source meanwhile. */
  gone(uid: number, size: number): void
  failed(failure: Failure & { uid: number }): void
  failureCountOf(uid: number): number
  /** All of them together. */
  readonly totalFailureCount: number
  countFailures(uids: readonly number[]): void
  /**
   * Batches whose outcome is not known, and no UID at the destination below which none of them can
   * be.
   */
  unresolvedBatches(): { uids: number[]; uidNext: number } | null
  /** Their outcome is known: each is in the books or left to do. */
  clearIntents(): Promise<void>
  isOwnCopy(destinationUid: number): boolean
  isExisting(uid: number): boolean
  /** Writes all down. */
  save(): Promise<void>
  /** @param sourceModseq the change of the source up to which all flags are at the destination */
  finish(sourceModseq: string | null): Promise<void>
}

export type OpenIntent = {
  /** The batch is over; of these messages it is not known whether they arrived. */
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
  let unwritten: Failure[] = []
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

/** Any number may ask at once: one write after the present one serves them all. */
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

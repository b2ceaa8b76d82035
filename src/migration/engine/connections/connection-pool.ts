import type { FolderCopy } from '../context.ts'
import {
  createConnectionPair,
  ConnectionLimitReached,
  type ConnectionPair,
  type ConnectionPairDeps,
} from './connection-pair.ts'
import { countRunning } from '../running-migrations.ts'
import { settledAll } from '../settled-all.ts'
import { ENGINE_LIMITS } from '../../limits.ts'

/** The connection pairs of one migration. */
export type ConnectionPool = {
  /** The pair that exists from the start. */
  readonly first: ConnectionPair
  /**
   * Copies folders. More pairs join where there is enough work and the servers allow it.
   * @param most maximum number of pairs
   * @throws errors of the whole migration
   */
  copy(copies: readonly FolderCopy[], most: number): Promise<void>
  /** Lets pairs with room begin further folders. Call it when messages were copied. */
  reassign(): void
  /** Lets more pairs join a running copy where there is enough work now. */
  extend(): void
  destroy(): void
  /** Signs out all connections. */
  close(): Promise<void>
}

/**
 * Creates a pool.
 * @param own aborts the signal of `deps`, because an error that ends one pair ends all
 */
export function createConnectionPool(
  deps: Omit<ConnectionPairDeps, 'isOptional'>,
  own: AbortController,
): ConnectionPool {
  const first = createConnectionPair({ ...deps, isOptional: () => false })
  const pairs = [first]
  const working = [first]

  let wake = Promise.withResolvers<void>()
  const reassigned = () => wake.promise
  let closing: Promise<void> | undefined
  /** Does nothing between copies. */
  let extend: () => void = () => {}

  async function closeAll(): Promise<void> {
    await Promise.all(pairs.map((pair) => pair.close()))
  }

  function endAll(error: unknown): void {
    if (!(error instanceof ConnectionLimitReached)) own.abort(error)
  }

  async function work(pair: ConnectionPair, queue: FolderQueue): Promise<void> {
    await copyFolders({ pair, queue, signal: deps.signal, endAll, reassigned }).catch(endAll)
  }

  async function join(queue: FolderQueue): Promise<void> {
    let isOptional = true
    const pair = createConnectionPair({ ...deps, isOptional: () => isOptional })
    pairs.push(pair)
    await settledAll([pair.source(), pair.destination()])
    isOptional = false
    working.push(pair)
    await work(pair, queue)
  }

  return {
    first,
    async copy(copies, most) {
      const queue = createFolderQueue(copies)
      const drives = working.map((pair) => work(pair, queue))
      extend = () => {
        const wanted = Math.min(most, countWanted(copies))
        while (pairs.length < wanted) drives.push(join(queue).catch(endAll))
      }
      extend()
      // More can join meanwhile.
      for (const drive of drives) await drive
      extend = () => {}
      if (own.signal.aborted) throw own.signal.reason
    },
    reassign() {
      wake.resolve()
      wake = Promise.withResolvers()
    },
    extend: () => extend(),
    destroy: () => pairs.forEach((pair) => pair.destroy()),
    close: () => (closing ??= closeAll()),
  }
}

/**
 * More pairs are worth their sign-in where there are many messages, or many folders. Migrations
 * beside this one keep both servers and this process busy meanwhile.
 */
function countWanted(copies: readonly FolderCopy[]): number {
  const { messagesPerConnection, foldersPerConnection } = ENGINE_LIMITS
  const messages = copies.reduce((sum, copy) => sum + countWaiting(copy), 0)
  const work = messages / messagesPerConnection + copies.length / foldersPerConnection
  return Math.ceil(work / Math.max(1, countRunning()))
}

/** The folders that the pairs of a migration share. */
type FolderQueue = {
  readonly copies: readonly FolderCopy[]
  /** The first folder that is not begun yet. It stays the first until then. */
  next(): FolderCopy | undefined
}

/** It remembers its place: it is asked after every batch, and an account can have thousands. */
function createFolderQueue(copies: readonly FolderCopy[]): FolderQueue {
  let begun = 0
  return {
    copies,
    next() {
      while (begun < copies.length && copies[begun]?.state !== 'waiting') begun += 1
      return copies[begun]
    },
  }
}

type CopyDeps = {
  pair: ConnectionPair
  queue: FolderQueue
  signal: AbortSignal
  /** Ends all pairs with an error of the whole migration. */
  endAll: (error: unknown) => void
  /** Resolves when there may be room for another folder. */
  reassigned: () => Promise<void>
}

/**
 * Copies folders, small ones together so that no round trip is waited for alone, then helps with
 * the folder that has the most messages left.
 */
async function copyFolders(deps: CopyDeps): Promise<void> {
  const { pair, queue, signal, endAll, reassigned } = deps
  const inProgress = new Map<FolderCopy, Promise<void>>()
  for (;;) {
    if (signal.aborted) await Promise.all(inProgress.values())
    signal.throwIfAborted()
    const next = queue.next()
    if (next && hasRoom([...inProgress.keys()], next)) {
      const copying = next.run(pair).catch(endAll)
      inProgress.set(
        next,
        copying.finally(() => inProgress.delete(next)),
      )
    } else if (inProgress.size > 0) await Promise.race([...inProgress.values(), reassigned()])
    else if (!(await helpLargest(pair, queue.copies))) return
  }
}

function hasRoom(inProgress: readonly FolderCopy[], next: FolderCopy): boolean {
  const { messagesPerConnection, foldersInProgress } = ENGINE_LIMITS
  if (inProgress.length === 0) return true
  const messages = [...inProgress, next].reduce((sum, copy) => sum + countWaiting(copy), 0)
  return inProgress.length < foldersInProgress && messages <= messagesPerConnection
}

/** Messages that no batch has yet, as far as they are known. */
function countWaiting({ folder, folderState, waiting }: FolderCopy): number {
  return folderState ? waiting : (folder.messages ?? ENGINE_LIMITS.messagesPerConnection)
}

/** False when no folder has enough messages left. */
async function helpLargest(pair: ConnectionPair, copies: readonly FolderCopy[]): Promise<boolean> {
  const running = copies.filter(({ state }) => state === 'running')
  await Promise.all(running.map(({ begun }) => begun))
  const [most] = running.toSorted((a, b) => b.waiting - a.waiting)
  if (!most || most.waiting < ENGINE_LIMITS.messagesPerConnection / 2) return false
  await most.help(pair)
  return true
}

import type { FolderCopy } from '../context.ts'
import {
  createConnectionPair,
  ConnectionLimitReached,
  type ConnectionPair,
  type ConnectionPairDeps,
} from './connection-pair.ts'
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

  async function join(copies: readonly FolderCopy[]): Promise<void> {
    let isOptional = true
    const pair = createConnectionPair({ ...deps, isOptional: () => isOptional })
    pairs.push(pair)
    await Promise.all([pair.source(), pair.destination()])
    isOptional = false
    working.push(pair)
    await copyFolders(pair, copies, deps.signal)
  }

  return {
    first,
    async copy(copies, most) {
      const messages = copies.reduce(
        (sum, { folder }) => sum + (folder.messages ?? ENGINE_LIMITS.messagesPerConnection),
        0,
      )
      const wanted = Math.min(most, Math.ceil(messages / ENGINE_LIMITS.messagesPerConnection))
      const drives = working.map((pair) => copyFolders(pair, copies, deps.signal))
      while (pairs.length < wanted) drives.push(join(copies))
      const endAll = (error: unknown) => {
        if (!(error instanceof ConnectionLimitReached)) own.abort(error)
      }
      await Promise.all(drives.map((driving) => driving.catch(endAll)))
      if (own.signal.aborted) throw own.signal.reason
    },
    destroy: () => pairs.forEach((pair) => pair.destroy()),
    async close() {
      await Promise.all(pairs.map((pair) => pair.close()))
    },
  }
}

/** Copies one folder after another, then helps with the folder that has the most messages left. */
async function copyFolders(
  pair: ConnectionPair,
  copies: readonly FolderCopy[],
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const next = copies.find(({ state }) => state === 'waiting')
    if (next) await next.run(pair)
    else {
      const running = copies.filter(({ state }) => state === 'running')
      await Promise.all(running.map(({ opened }) => opened))
      const [most] = running.toSorted((a, b) => b.waiting - a.waiting)
      if (!most || most.waiting < ENGINE_LIMITS.messagesPerConnection / 2) return
      await most.help(pair)
    }
  }
}

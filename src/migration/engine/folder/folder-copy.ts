import type { FolderRoute } from '../plan/mapping.ts'
import type { FolderCopy, MigrationContext } from '../context.ts'
import { messageOf } from '../../../errors.ts'
import { ImapRefused } from '../../../net/imap/connection/refusals.ts'
import { copyFlags } from './copy-flags.ts'
import { createFolderCopier } from './folder-copier.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { openFolder, type OpenFolder } from './open-folder.ts'
import { backOff, withRetries } from '../connections/with-retries.ts'
import { reconcile } from './reconcile.ts'
import { createBatchQueue, type BatchQueue } from './batch-queue.ts'
import { codeOf, FolderStop, Reopen } from '../stop.ts'
import { failUnreadableMessages, verify } from './verify.ts'

export function createFolderCopy(
  migration: MigrationContext,
  { folder, mapped, bytes }: FolderRoute,
): FolderCopy {
  const { journal, gate, waitTimes, signal, log } = migration
  const { promise: opened, resolve: markOpened } = Promise.withResolvers<void>()
  const helpers = new Set<Promise<void>>()
  const wanted = mapped.destination
  const copier = createFolderCopier(migration, folder)
  let state: FolderCopy['state'] = 'waiting'
  let open: OpenFolder | null = null
  let queue: BatchQueue | null = null

  async function run(pair: ConnectionPair): Promise<void> {
    state = 'running'
    migration.changed()
    try {
      for (let tries = 1; ; tries++) {
        try {
          await copyWhole(pair)
          break
        } catch (error) {
          if (!(error instanceof Reopen) || tries === ENGINE_LIMITS.maxReopens) throw error
          log.info({ folder: folder.path }, error.message)
        }
      }
      state = 'done'
    } catch (error) {
      await stop(error)
    } finally {
      markOpened()
      migration.changed()
    }
  }

  /** Ends the folder with an error. Errors of the whole migration are thrown. */
  async function stop(error: unknown): Promise<void> {
    state = 'stopped'
    if (!(error instanceof FolderStop || error instanceof ImapRefused)) throw error
    state = 'failed'
    await journal.report(folderFailure(folder.path, error))
  }

  async function count(pair: ConnectionPair): Promise<void> {
    try {
      const reading = await withRetries(migration, () => pair.openSource(folder.pathAsListed))
      folder.messages = reading.opened.exists
    } catch (error) {
      await stop(error)
    }
    migration.changed()
  }

  async function copyWhole(pair: ConnectionPair): Promise<void> {
    const at = await withRetries(migration, () => openFolder(pair, folder, wanted, migration))
    open = at
    noteName(at.destinationFolder.path)
    markOpened()
    migration.changed()
    do await copyRounds(pair, at)
    while (!(await withRetries(migration, () => verify(pair, at, copier, migration.note))))
    if (migration.withNewMail)
      await withRetries(migration, () => copyFlags(pair, at, copier, migration))
    await at.folderState.finish(at.sourceModseq)
  }

  function noteName(path: string): void {
    const { altered, inTheWay } = mapped
    if (!altered && path === wanted) return
    const why = inTheWay === null ? '' : `, because another folder goes to “${inTheWay}”`
    migration.note({ folder: folder.path, message: `It became “${path}”${why}.` })
  }

  async function copyRounds(pair: ConnectionPair, at: OpenFolder): Promise<void> {
    const { folderState, destinationFolder } = at
    for (let idle = 0; idle < ENGINE_LIMITS.maxIdleRounds;) {
      await withRetries(migration, async () => {
        const { wire } = await pair.destination()
        await reconcile(folderState, () => copier.reading(pair, at), wire, destinationFolder.name, {
          settle: waitTimes.quietMs,
          signal,
        })
      })
      failUnreadableMessages(at, copier)
      const left = folderState.start(at.uids)
      if (left.length === 0) return
      const known = folderState.totalFailureCount
      await copyRound(pair, at, left)
      signal.throwIfAborted()
      if (folderState.left < left.length || folderState.totalFailureCount > known) idle = 0
      else if (gate.closedUntil === null) {
        idle += 1
        await backOff(idle, waitTimes, signal)
      }
    }
    throw new FolderStop(
      'stuck',
      `Nothing more of “${folder.path}” could be copied in ${ENGINE_LIMITS.maxIdleRounds} attempts.`,
    )
  }

  /**
   * Copies messages that have not failed first. Messages that were in a batch whose connection
   * broke follow in small batches, and finally alone, so that they affect no others.
   */
  async function copyRound(pair: ConnectionPair, at: OpenFolder, left: number[]): Promise<void> {
    const { folderState } = at
    const trusted = left.filter((uid) => folderState.failureCountOf(uid) === 0)
    const shared = left.filter(
      (uid) => folderState.failureCountOf(uid) < ENGINE_LIMITS.maxBreaks.alone,
    )
    const uids = [trusted, shared].find((some) => some.length > 0) ?? left
    const maxBatchMessages =
      uids === trusted ? Infinity : uids === shared ? ENGINE_LIMITS.suspiciousBatchMessages : 1
    const { pace } = copier
    const current = createBatchQueue({
      uids,
      pace,
      maxBatchMessages,
      isThere: (row) => copier.isThere(at, row),
    })
    const { wire } = await pair.destination()
    // Without UIDPLUS, the outcome of only one open batch can be found out.
    const isSingle = uids !== trusted || !wire.capabilities.has('UIDPLUS')
    queue = isSingle ? null : current
    try {
      await copier.work(pair, at, current, isSingle ? 1 : ENGINE_LIMITS.batchesInProgress)
    } finally {
      queue = null
      await Promise.all(helpers)
    }
  }

  return {
    folder,
    bytes,
    opened,
    get destination() {
      return open?.destinationFolder.path ?? wanted
    },
    get state() {
      return state
    },
    get folderState() {
      return open?.folderState ?? null
    },
    get waiting() {
      return queue?.waiting ?? 0
    },
    run,
    count,
    async help(pair) {
      if (!queue || !open) return
      const helping = copier.work(pair, open, queue, ENGINE_LIMITS.batchesInProgress)
      const quiet = helping.catch(() => undefined)
      helpers.add(quiet)
      await helping.finally(() => helpers.delete(quiet))
    },
  }
}

function folderFailure(folder: string, error: Error) {
  return {
    folder,
    uid: null,
    messageId: null,
    size: null,
    code: codeOf(error),
    message: messageOf(error),
    attempts: 1,
  }
}

import { onDeletionChange } from '../store/deleted-workspaces.ts'
import type { Notifications } from '../store/notifications.ts'
import { PutBack } from './job.ts'

/** The reason why work ends in a workspace that is deleted. The job waits until it is restored. */
export class WorkspaceDeleted extends PutBack {
  constructor() {
    super('the workspace is deleted')
    this.name = 'WorkspaceDeleted'
  }
}

/** Runs work in workspaces that are not deleted, and ends it when they are. */
export type WorkspaceGuard = {
  /**
   * Runs work in a workspace. Its signal aborts when the workspace is deleted.
   * @throws WorkspaceDeleted when it is deleted before or meanwhile, whatever the work throws
   */
  run<T>(
    workspaceId: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  close(): void
}

/** @param listDeleted which of these workspaces are deleted */
export function createWorkspaceGuard(
  notifications: Notifications,
  listDeleted: (ids: string[]) => Promise<string[]>,
): WorkspaceGuard {
  const running = new Map<string, Set<AbortController>>()

  function end(workspaceId: string): void {
    running.get(workspaceId)?.forEach((ending) => ending.abort(new WorkspaceDeleted()))
  }

  /** After missed notifications. A database that is away again reconnects again. */
  function recheck(): void {
    if (running.size > 0)
      listDeleted([...running.keys()]).then(
        (deleted) => deleted.forEach(end),
        () => {},
      )
  }

  const stop = onDeletionChange(
    notifications,
    ({ workspaceId, isDeleted }) => isDeleted && end(workspaceId),
    recheck,
  )
  return {
    async run(workspaceId, signal, work) {
      const ending = new AbortController()
      // Known before the question, so that a deletion is either found or announced.
      const those = running.get(workspaceId) ?? new Set()
      running.set(workspaceId, those.add(ending))
      try {
        const deleted = await listDeleted([workspaceId])
        if (deleted.length > 0) throw new WorkspaceDeleted()
        ending.signal.throwIfAborted()
        return await work(AbortSignal.any([signal, ending.signal]))
      } catch (error) {
        throw ending.signal.aborted ? ending.signal.reason : error
      } finally {
        those.delete(ending)
        if (those.size === 0) running.delete(workspaceId)
      }
    },
    close: stop,
  }
}

import { forEachConcurrently } from '../for-each-concurrently.ts'
import type { JobContext } from './job.ts'
import { WorkspaceDeleted } from './workspace-guard.ts'

/**
 * Works on rows a few at a time, each in its workspace, until the signal aborts. A row whose
 * workspace is deleted meanwhile is left as it is.
 */
export async function eachInWorkspace<Row extends { workspaceId: string }>(
  rows: readonly Row[],
  most: number,
  { signal, inWorkspace }: Pick<JobContext, 'signal' | 'inWorkspace'>,
  work: (row: Row, signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  await forEachConcurrently(rows, most, async (row) => {
    if (signal.aborted) return
    try {
      await inWorkspace(row.workspaceId, (own) => work(row, own))
    } catch (error) {
      if (!(error instanceof WorkspaceDeleted) && !signal.aborted) throw error
    }
  })
}

import type { InWorkspace, JobContext } from '../../src/jobs/job.ts'
import { createLog } from '../../src/log.ts'

/** What a job receives that runs by itself: no workspace is deleted, and nothing is enqueued. */
export function jobContext(context: Partial<JobContext> = {}): JobContext {
  const { signal = new AbortController().signal } = context
  return {
    ...inLiveWorkspaces(signal),
    attempt: 1,
    log: createLog('silent'),
    enqueue: async () => true,
    ...context,
  }
}

/** The part of it for work of workspaces that are not deleted. */
export function inLiveWorkspaces(signal: AbortSignal): {
  signal: AbortSignal
  inWorkspace: InWorkspace
} {
  return { signal, inWorkspace: (_workspaceId, work) => work(signal) }
}

import { Fault } from '../../errors.ts'
import { defineSweep, type Job, type JobContext } from '../../jobs/job.ts'
import { WorkspaceDeleted } from '../../jobs/workspace-guard.ts'
import { notifyChange } from '../../store/changes.ts'
import { parseDomain } from '../check-domain.ts'
import { MAX_COMPLETED_WATCHES, PARALLEL_WATCHES } from '../limits.ts'
import { listIncomplete, saveFailure, type WatchedDomainRow } from './watched-domains.sql.ts'
import { watchDomain, type WatchDeps } from './watch-domain.ts'

export type CompleteDeps = Omit<WatchDeps, 'monitoring'> & {
  monitoring: Omit<WatchDeps['monitoring'], 'queue'>
}

/**
 * Switches on the rest of the watch of each imported domain: its hosts, reports and alerts. Domains
 * that do not exist yet are tried again every 15 minutes.
 */
export function completeWatchesJob(deps: CompleteDeps): Job {
  return defineSweep({
    name: 'domains.complete-watches',
    schedule: '7-59/15 * * * *',
    async run(_data, context) {
      const done = await completeWatches(deps, context)
      if (done > 0) context.log.debug({ done }, 'watches of imported domains completed')
    },
  })
}

type RunContext = Pick<JobContext, 'signal' | 'log' | 'enqueue' | 'inWorkspace'>

/** @returns how many domains were tried */
async function completeWatches(
  { monitoring, ...deps }: CompleteDeps,
  { enqueue, ...context }: RunContext,
): Promise<number> {
  const own: WatchDeps = { ...deps, monitoring: { ...monitoring, queue: { enqueue } } }
  const tried: string[] = []
  while (!context.signal.aborted && tried.length < MAX_COMPLETED_WATCHES) {
    // A few at a time, one of each account in turn: a long import lets others go between.
    const rows = await listIncomplete(deps.db, tried, PARALLEL_WATCHES)
    if (rows.length === 0) break
    tried.push(...rows.map(({ id }) => id))
    await Promise.all(rows.map((row) => completeWatch(own, row, context)))
  }
  return tried.length
}

async function completeWatch(
  deps: WatchDeps,
  { workspaceId, domain }: WatchedDomainRow,
  { signal, log, inWorkspace }: Omit<RunContext, 'enqueue'>,
): Promise<void> {
  try {
    await inWorkspace(workspaceId, (own) =>
      watchDomain(deps, workspaceId, parseDomain(domain), own, { onlyIfWatched: true }),
    )
  } catch (error) {
    if (signal.aborted || error instanceof WorkspaceDeleted) return
    if (!(error instanceof Fault))
      return log.warn({ err: error, domain }, 'the watch of a domain could not be completed')
    if (await saveFailure(deps.db, workspaceId, { domain, sentence: error.message }))
      await notifyChange(deps.db, workspaceId, 'checks')
  }
}

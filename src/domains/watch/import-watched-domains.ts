import type { Kysely } from 'kysely'
import { planImport, readEntries, reportImport } from '../../http/import-entries.ts'
import type { ImportReport } from '../../http/shapes.ts'
import type { Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import { notifyChange } from '../../store/changes.ts'
import { listKnownNames } from '../../store/known-names.ts'
import type { DB } from '../../store/tables.ts'
import { parseDomain } from '../check-domain.ts'
import { MAX_WATCHED_DOMAINS } from '../limits.ts'
import { countWatched, insertWatchedDomains } from './watched-domains.sql.ts'
import { WATCH_LIMIT_MESSAGE } from './watch-domain.ts'

export type ImportDeps = {
  db: Kysely<DB>
  queue: Pick<Queue, 'enqueue'>
  /** The job that finds the mail servers of imported domains, and monitors them. */
  completeWatches: Job
}

/**
 * Watches several domains in one transaction. Each entry has its own result. The DNS is not asked
 * here: `completeWatches` switches on the rest of each watch.
 */
export async function importWatchedDomains(
  { db, queue, completeWatches }: ImportDeps,
  workspaceId: string,
  entries: { domain: string }[],
): Promise<ImportReport> {
  const nameOf = (text: string) => parseDomain(text).name
  const read = readEntries(entries, ({ domain }) => domain, nameOf)
  const names = read.flatMap(({ name }) => (name === null ? [] : [name]))
  return db.transaction().execute(async (trx) => {
    const free = MAX_WATCHED_DOMAINS - (await countWatched(trx, workspaceId))
    const rules = {
      known: await listKnownNames(trx, 'watchedDomain', workspaceId, names),
      free,
      limitMessage: WATCH_LIMIT_MESSAGE,
      existsMessage: (name: string) => `${name} is already watched.`,
    }
    const planned = planImport(read, rules)
    const added = planned.flatMap(({ status, name }) =>
      status === 'added' && name !== null ? [name] : [],
    )
    const inserted = await insertWatchedDomains(trx, workspaceId, added)
    if (inserted.length > 0) {
      await queue.enqueue(trx, completeWatches, {})
      await notifyChange(trx, workspaceId, 'checks')
    }
    return reportImport(planned, new Map(inserted.map(({ domain, id }) => [domain, id])), rules)
  })
}

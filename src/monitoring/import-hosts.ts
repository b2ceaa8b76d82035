import { planImport, readEntries, reportImport } from '../http/import-entries.ts'
import type { ImportReport } from '../http/shapes.ts'
import { notifyChange } from '../store/changes.ts'
import { listKnownNames } from '../store/known-names.ts'
import { alreadyMonitored, HOSTS_LIMIT_MESSAGE, readHost, type HostDeps } from './hosts.ts'
import { MAX_HOSTS_PER_WORKSPACE } from './limits.ts'
import { insertHosts, lockAndCountHosts } from './hosts.sql.ts'

type HostEntry = { host: string; label?: string }

/**
 * Adds several hosts in one transaction. Each entry has its own result; valid ones are added
 * whatever the others are. Their first checks follow, in turn with those of other workspaces.
 */
export async function importHosts(
  { db, queue, sweep }: HostDeps,
  workspaceId: string,
  entries: HostEntry[],
): Promise<ImportReport> {
  const read = readEntries(
    entries,
    ({ host }) => host,
    (text) => readHost(text).name,
  )
  const names = read.flatMap(({ name }) => (name === null ? [] : [name]))
  return db.transaction().execute(async (trx) => {
    const free = MAX_HOSTS_PER_WORKSPACE - (await lockAndCountHosts(trx, workspaceId))
    const rules = {
      known: await listKnownNames(trx, 'monitoredHost', workspaceId, names),
      free,
      limitMessage: HOSTS_LIMIT_MESSAGE,
      existsMessage: alreadyMonitored,
    }
    const planned = planImport(read, rules)
    const rows = planned.flatMap(({ status, name, entry: { label = '' } }) =>
      status === 'added' && name !== null ? [{ host: name, label, ...portsOf(name) }] : [],
    )
    const inserted = await insertHosts(trx, workspaceId, rows)
    if (inserted.length > 0) {
      await queue.enqueue(trx, sweep, {})
      await notifyChange(trx, workspaceId, 'monitoring')
    }
    return reportImport(planned, new Map(inserted.map(({ host, id }) => [host, id])), rules)
  })
}

function portsOf(name: string): { tlsPorts: number[] } {
  return { tlsPorts: readHost(name).tlsPorts }
}

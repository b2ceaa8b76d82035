import type { Kysely } from 'kysely'
import { eachInWorkspace } from '../../jobs/each-in-workspace.ts'
import { defineSweep, type InWorkspace, type Job } from '../../jobs/job.ts'
import type { Resolver } from '../../net/dns.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import {
  MAX_DOMAIN_EVENTS,
  PARALLEL_DOMAINS,
  RECORDS_INTERVAL_MS,
  RECORDS_TIMEOUT_MS,
  SWEEP_BATCH,
} from '../limits.ts'
import { compareRecords, readRecords } from './records.ts'
import {
  insertDomainEvents,
  listDue,
  saveRecords,
  type WatchedDomainRow,
} from './watched-domains.sql.ts'

type SweepDeps = { db: Kysely<DB>; resolver: Resolver; inWorkspace: InWorkspace }

/** Checks the records of watched domains every 15 minutes; one sweep in the whole installation. */
export function sweepDomainsJob(deps: Omit<SweepDeps, 'inWorkspace'>): Job {
  return defineSweep({
    name: 'domains.sweep',
    schedule: '*/15 * * * *',
    async run(_data, { signal, log, inWorkspace }) {
      const checked = await sweepDomains({ ...deps, inWorkspace }, signal)
      if (checked > 0) log.debug({ checked }, 'records of watched domains checked')
    },
  })
}

/** @returns how many domains were checked */
export async function sweepDomains(
  deps: SweepDeps,
  signal: AbortSignal,
  now = new Date(),
): Promise<number> {
  const due = await listDue(deps.db, new Date(now.getTime() - RECORDS_INTERVAL_MS), SWEEP_BATCH)
  const context = { signal, inWorkspace: deps.inWorkspace }
  await eachInWorkspace(due, PARALLEL_DOMAINS, context, (row, own) =>
    checkRecords(row, deps, own, now),
  )
  return due.length
}

async function checkRecords(
  { id, workspaceId, domain, records: known }: WatchedDomainRow,
  { db, resolver }: SweepDeps,
  signal: AbortSignal,
  now: Date,
): Promise<void> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(RECORDS_TIMEOUT_MS)])
  const read = await readRecords(domain, resolver, patience)
  signal.throwIfAborted()
  const { records, events } = compareRecords(known, read, now)
  await db.transaction().execute(async (trx) => {
    await saveRecords(trx, id, records, now)
    await insertDomainEvents(trx, id, events, MAX_DOMAIN_EVENTS)
    if (events.length > 0) await notifyChange(trx, workspaceId, 'checks')
  })
}

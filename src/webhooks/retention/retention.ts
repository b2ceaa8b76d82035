import { defineJob, type Job } from '../../jobs/job.ts'
import type { Logger } from '../../log.ts'
import { NIGHTLY_STATEMENT_TIMEOUT_MS, withStatementTimeout, type Db } from '../../store/database.ts'
import { KEPT, KEPT_DAYS, TRIM_EVERY, TRIM_ROWS, VACUUM_ROWS, VACUUM_SHARE } from '../limits.ts'
import { deleteBeyond, deleteOlder, freeRoom, listOverfull } from './store.ts'

const DAY = 24 * 60 * 60 * 1000

/** Endpoints of which is remembered how far they are trimmed. */
const REMEMBERED = 10_000

/** Keeps the newest of each endpoint that captures here, beside the captures and never in their way. */
export function startTrimming({ db, log }: { db: Db; log: Logger }) {
  const upTo = new Map<string, number>()
  let captured = new Set<string>()
  let deleted = 0
  let running: Promise<void> | undefined

  async function trim(): Promise<void> {
    const ids = [...captured]
    captured = new Set()
    try {
      if (upTo.size > REMEMBERED) upTo.clear()
      deleted += await trimAll(db, ids, upTo)
      if (deleted >= VACUUM_ROWS && (await freeRoom(db, deleted, VACUUM_SHARE))) deleted = 0
    } catch (error) {
      log.warn({ err: error }, 'old requests were not deleted; the next look will')
      for (const id of ids) captured.add(id)
    }
  }

  const timer = setInterval(() => {
    if (captured.size > 0) running ??= trim().finally(() => (running = undefined))
  }, TRIM_EVERY).unref()

  return {
    captured(endpointIds: Iterable<string>): void {
      for (const id of endpointIds) captured.add(id)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await running
    },
  }
}

/** Every quarter of an hour: what an instance that died left untrimmed, and what is older than is kept. */
export function webhookCleanUpJob({ db }: { db: Db }): Job {
  return defineJob({
    name: 'webhooks.clean-up',
    schedule: '*/15 * * * *',
    async run(_data, { signal, log }) {
      const beyond = await trimAll(db, await listOverfullSlowly(db), new Map(), signal)
      const before = new Date(Date.now() - KEPT_DAYS * DAY)
      const old = await untilNone(() => deleteOlder(db, before, TRIM_ROWS), signal)
      if (beyond + old > 0) log.info({ beyond, old }, 'captured requests that are not kept any longer deleted')
    },
  })
}

/** @param upTo how far each is trimmed, which this carries on */
function trimAll(db: Db, ids: string[], upTo: Map<string, number>, signal?: AbortSignal): Promise<number> {
  return untilNone(async () => {
    const endpoints = ids.map((endpointId) => ({ endpointId, upTo: upTo.get(endpointId) ?? 0 }))
    const trimmed = await deleteBeyond(db, endpoints, KEPT, TRIM_ROWS)
    for (const { endpointId, upTo: last } of trimmed) upTo.set(endpointId, last)
    return trimmed.reduce((sum, { deleted }) => sum + deleted, 0)
  }, signal)
}

async function untilNone(deleteSome: () => Promise<number>, signal?: AbortSignal): Promise<number> {
  for (let all = 0; ;) {
    signal?.throwIfAborted()
    const some = await deleteSome()
    all += some
    if (some < TRIM_ROWS) return all
  }
}

/** It counts every captured request there is. */
function listOverfullSlowly(db: Db): Promise<string[]> {
  return withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, (connection) => listOverfull(connection, KEPT))
}

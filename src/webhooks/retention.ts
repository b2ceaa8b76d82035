import { defineJob, type Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Db } from '../store/database.ts'
import { KEPT, KEPT_DAYS, TRIM_EVERY, TRIM_ROWS } from './limits.ts'
import { deleteBeyond, deleteOlder, listOverfull } from './store.ts'

const DAY = 24 * 60 * 60 * 1000

/** Keeps the newest of each endpoint that captures here, beside the captures and never in their way. */
export function startTrimming({ db, log }: { db: Db; log: Logger }) {
  let captured = new Set<string>()
  let running: Promise<void> | undefined

  async function trim(): Promise<void> {
    const ids = [...captured]
    captured = new Set()
    try {
      await trimAll(db, ids)
    } catch (error) {
      log.warn({ err: error }, 'old requests were not deleted; the next look will')
      for (const id of ids) captured.add(id)
    }
  }

  const timer = setInterval(() => {
    if (captured.size > 0) running ??= trim().finally(() => (running = undefined))
  }, TRIM_EVERY).unref()

  return {
    captured(rows: { endpointId: string }[]): void {
      for (const { endpointId } of rows) captured.add(endpointId)
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
      const beyond = await trimAll(db, await listOverfull(db, KEPT), signal)
      const before = new Date(Date.now() - KEPT_DAYS * DAY)
      const old = await untilNone(() => deleteOlder(db, before, TRIM_ROWS), signal)
      if (beyond + old > 0) log.info({ beyond, old }, 'captured requests that are not kept any longer deleted')
    },
  })
}

function trimAll(db: Db, endpointIds: string[], signal?: AbortSignal): Promise<number> {
  return untilNone(() => deleteBeyond(db, endpointIds, KEPT, TRIM_ROWS), signal)
}

async function untilNone(deleteSome: () => Promise<number>, signal?: AbortSignal): Promise<number> {
  for (let all = 0; ;) {
    signal?.throwIfAborted()
    const some = await deleteSome()
    all += some
    if (some < TRIM_ROWS) return all
  }
}

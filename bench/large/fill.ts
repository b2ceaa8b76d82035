import { Pool } from 'pg'
import { openDatabase } from '../../src/store/database.ts'
import type { Embedded } from '../../src/store/embedded.ts'
import { fillAccounts } from './fill-accounts.ts'
import { attackTasks, createReportPartitions } from './fill-attacks.ts'
import { dmarcTasks, fillDomains } from './fill-dmarc.ts'
import { fillMonitoring } from './fill-monitoring.ts'
import { webhookTasks } from './fill-webhooks.ts'
import { inLanes, type Task } from './lanes.ts'
import { CREATE_IDS, type Sizes } from './sizes.ts'

/** Seconds of each part of the fill. */
export type FillTimes = Record<'entities' | 'attacks' | 'requests' | 'dmarc' | 'vacuum', number>

/**
 * Fills every table that the pages read with set-based statements.
 * @param options `lanes`: statements at the same time; `onPart` gets a line about each part
 */
export async function fill(
  server: Embedded,
  sizes: Sizes,
  { lanes, onPart }: { lanes: number; onPart: (line: string) => void },
): Promise<FillTimes> {
  const database = openDatabase(server.url)
  const now = Date.now()
  await createReportPartitions(database.db, now)
  await database.close()
  const pool = openFillPool(server.adminUrl, lanes)
  const timed = async (part: string, tasks: Task[]) => {
    const begun = performance.now()
    await inLanes(tasks, lanes)
    const seconds = (performance.now() - begun) / 1000
    onPart(`${part}: ${seconds.toFixed(1)} s`)
    return seconds
  }
  try {
    await pool.query(CREATE_IDS)
    const entities = await timed('entities', [() => fillAccounts(pool), () => fillMonitoring(pool)])
    const attacks = await timed('attack reports', attackTasks(pool, sizes, now))
    const requests = await timed('captured requests', webhookTasks(pool, sizes))
    const dmarc =
      (await timed('DMARC reports', dmarcTasks(pool, sizes))) +
      (await timed('DMARC domains', [() => fillDomains(pool)]))
    const vacuum = await timed('vacuum', [
      async () => {
        await pool.query('vacuum analyze')
      },
    ])
    return { entities, attacks, requests, dmarc, vacuum }
  } finally {
    await pool.end()
  }
}

/** Without triggers: keys refer to rows that another statement inserts. */
function openFillPool(adminUrl: string, max: number): Pool {
  const url = new URL(adminUrl)
  url.pathname = '/portreeve'
  return new Pool({
    connectionString: url.href,
    max,
    options:
      '-c session_replication_role=replica -c timezone=UTC -c work_mem=128MB -c maintenance_work_mem=256MB -c jit=off',
  })
}

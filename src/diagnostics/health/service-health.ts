import type { Kysely } from 'kysely'
import { responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { Queue } from '../../jobs/queue.ts'
import { databaseState } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { VERSION } from '../../version.ts'
import type { CheckDeps } from '../check-services.ts'
import { checkBlocklists, checkClock, checkResolver, type Finding } from './service-checks.ts'
import { Health } from '../shapes.ts'

export type HealthOptions = Pick<CheckDeps, 'resolver' | 'blocklists'> & {
  db: Kysely<DB>
  queue: Queue
  /** Checks of what the settings switch on, such as backups. */
  checks: (() => Promise<Finding>)[]
}

/** Whether this Portreeve is well: `/api/v1/service/health`, for administrators. */
export function healthRoute(app: App, options: HealthOptions): void {
  const upSince = new Date()
  app.get(
    '/api/v1/service/health',
    {
      schema: {
        summary: 'Get the health of resolvers, blocklists, database and job queue',
        description: 'For administrators. Queries the resolvers and the critical blocklists now.',
        response: responses(Success(Health)),
      },
    },
    async () => ({
      success: true,
      data: { version: VERSION, upSince, ...(await checkHealth(options)) },
    }),
  )
}

async function checkHealth({ db, resolver, blocklists, queue, checks }: HealthOptions) {
  const [{ now, ...database }, dns, lists, jobs, others] = await Promise.all([
    databaseState(db),
    checkResolver(resolver),
    checkBlocklists(blocklists),
    queue.stats(),
    Promise.all(checks.map((check) => check())),
  ])
  return { findings: [dns, ...lists, checkClock(now), ...others], database, jobs }
}

// What the digest shows of migrations.
import { sql } from 'kysely'
import { boundedOf, type Bounded, type Period } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'

type EndedMigration = {
  id: string
  status: 'completed' | 'failed'
  source: string
  destination: string
  messages: number
  errors: number
}

/** How many migrations ended, and with how many messages. */
type MigrationCounts = { completed: number; failed: number; messages: number }

export type EndedMigrations = Bounded<EndedMigration> & { counts: MigrationCounts }

const ENDED = (workspaceId: string, { from, to }: Period) => sql`
  from migration where workspace_id = ${workspaceId} and status in ('completed', 'failed')
    and completed_at >= ${from} and completed_at < ${to} and not (options ->> 'dryRun')::bool`
const MESSAGES = sql`coalesce((progress ->> 'messagesDone')::float8, 0)`

/** Migrations that ended in the period without dry runs, failed ones first. */
export async function listEndedMigrations(
  db: Db,
  workspaceId: string,
  period: Period,
  limit: number,
): Promise<EndedMigrations> {
  const ended = ENDED(workspaceId, period)
  const { rows } = await sql<EndedMigration & { total: number }>`
    select id, status, source ->> 'user' as source, destination ->> 'user' as destination,
      ${MESSAGES} as messages, error_count as errors, count(*) over ()::int as total
    ${ended} order by status = 'completed', error_count desc, completed_at desc, id desc limit ${limit}`.execute(
    db,
  )
  const { rows: sums } = await sql<MigrationCounts>`
    select (count(*) filter (where status = 'completed'))::int as completed,
      (count(*) filter (where status = 'failed'))::int as failed,
      coalesce(sum(${MESSAGES}), 0)::float8 as messages ${ended}`.execute(db)
  return { ...boundedOf(rows), counts: sums[0] ?? { completed: 0, failed: 0, messages: 0 } }
}

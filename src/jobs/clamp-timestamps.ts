import type { Pool } from 'pg'

/**
 * Reduces the queue’s timestamps that are in the future, after a clock that ran ahead was
 * corrected: jobs would not be claimed, and schedules and recovery would stop, until that time is
 * reached again. Jobs created meanwhile keep their delay.
 */
export async function clampQueueTimestamps(pool: Pool): Promise<void> {
  for (const statement of STATEMENTS) await pool.query(statement)
}

/** A scheduled minute is enqueued once. Minutes that occur again must not count as done. */
const JOBS = `
  update pgboss.job set
    start_after = case
      when state = 'created' and created_on > now() then start_after - (created_on - now())
      when state = 'retry' and start_after > now() + interval '10 minutes' then now() + retry_delay * interval '1 second'
      else start_after end,
    created_on = least(created_on, now()),
    started_on = least(started_on, now()),
    heartbeat_on = least(heartbeat_on, now()),
    singleton_on = case when singleton_on <= now() at time zone 'UTC' then singleton_on end
  where created_on > now() or started_on > now() or heartbeat_on > now() or singleton_on > now() at time zone 'UTC'
    or (state = 'retry' and start_after > now() + interval '10 minutes')`

const TURNS = ['cron_on', 'bam_on', 'flow_on', 'reindex_on', 'monitor_backoff_on']
const QUEUE_TURNS = ['monitor_claim_on', 'monitor_on', 'maintain_on', 'delta_on']

const STATEMENTS = [JOBS, heldBack('version', TURNS), heldBack('queue', QUEUE_TURNS)]

function heldBack(table: string, columns: string[]): string {
  const set = columns.map((column) => `${column} = least(${column}, now())`).join(', ')
  const isAhead = columns.map((column) => `${column} > now()`).join(' or ')
  return `update pgboss.${table} set ${set} where ${isAhead}`
}

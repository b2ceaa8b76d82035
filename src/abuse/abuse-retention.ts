import type { Retention } from '../store/retention.ts'

/** Rows of the attack list that are deleted after some time. A day counts from its begin. */
export const RETENTION: Retention[] = [
  { table: 'abuse_rate', column: 'started_at', days: 2 },
  {
    table: 'abuse_address',
    column: 'last_reported_at',
    days: 30,
    where: `not published and state <> 'listed'`,
  },
  { table: 'abuse_refutation', column: 'at', days: 30 },
  { table: 'abuse_system_count', column: 'day', days: 31 },
  { table: 'abuse_appeal', column: 'created_at', days: 90 },
  { table: 'abuse_network', column: 'last_seen_at', days: 180 },
]

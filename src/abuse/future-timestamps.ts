import type { FutureTimestamp } from '../store/clock.ts'
import { DAY_SECONDS, MINUTE_SECONDS, SECOND_MS } from '../time.ts'
import { MAX_PAUSE_MS } from './federation/limits.ts'

/** Columns of attack reporting with future timestamps, and how far ahead they may be. */
export const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ['public_feed', 'due_at', DAY_SECONDS] as const,
  ['public_feed', 'claimed_until', 15 * MINUTE_SECONDS] as const,
  ['public_feed', 'changed_at', 0] as const,
  ['relay', 'paused_until', DAY_SECONDS] as const,
  ['relay', 'claimed_until', 2 * MINUTE_SECONDS] as const,
  ['relayed_report', 'due_at', DAY_SECONDS] as const,
  ['abuse_mail', 'due_at', DAY_SECONDS] as const,
  ['watched_network', 'checked_at', 0] as const,
  ['federation_peer', 'next_contact_at', MAX_PAUSE_MS / SECOND_MS] as const,
].map(([table, column, maxAheadSeconds]) => ({ table, column, maxAheadSeconds, clock: 'service' }))

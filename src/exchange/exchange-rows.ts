import { futureTimestamps, type FutureTimestamp } from '../store/clock.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import type { Retention } from '../store/retention.ts'
import { DAY_MS, DAY_SECONDS, SECOND_MS } from '../time.ts'
import { DUE_MAILS } from './abuse-mails/abuse-mails.sql.ts'
import { BOUNCE_DAYS, CONTACT_LIFETIME_MS, RETENTION_MS as MAIL_MS } from './abuse-mails/limits.ts'
import { MAX_PAUSE_MS } from './federation/limits.ts'
import { DUE_PEERS } from './federation/peers/peers.sql.ts'
import { RETENTION_MS as RELAYED_MS } from './relays/limits.ts'
import { DUE_RELAYS } from './relays/relays.sql.ts'

const clock = 'service'

/** Columns of the exchange with future timestamps, and how far ahead they may be. */
export const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ...[DUE_RELAYS, DUE_MAILS].flatMap((rows) =>
    futureTimestampsOf(rows, { clock, aheadSeconds: DAY_SECONDS }),
  ),
  ...futureTimestampsOf(DUE_PEERS, { clock, aheadSeconds: MAX_PAUSE_MS / SECOND_MS }),
  ...futureTimestamps(clock, [['relayed_report', 'due_at', DAY_SECONDS]]),
]

/** Rows of the exchange that are deleted after some time. A day counts from its begin. */
export const RETENTION: Retention[] = [
  { table: 'abuse_quota', column: 'day', days: 3 },
  { table: 'abuse_contact', column: 'looked_up_at', days: CONTACT_LIFETIME_MS / DAY_MS },
  { table: 'federation_evidence', column: 'seen_at', days: 30 },
  { table: 'federation_journal', column: 'seen_at', days: 30 },
  { table: 'federation_peer', column: 'requested_at', days: 30, where: 'approved_at is null' },
  { table: 'abuse_mail', column: 'created_at', days: MAIL_MS / DAY_MS },
  { table: 'abuse_mail_report', column: 'day', days: MAIL_MS / DAY_MS + 1 },
  { table: 'relayed_report', column: 'ended_at', days: RELAYED_MS / DAY_MS },
  { table: 'abuse_bounce', column: 'bounced_at', days: BOUNCE_DAYS },
]

import { sql, type RawBuilder } from 'kysely'
import { createOutbox } from '../../jobs/outbox.ts'
import type { Db } from '../../store/database.ts'
import { dueInTurn, type DueRows } from '../../store/due-rows.ts'
import { responsibleFor } from '../../store/responsible.ts'
import { updateRows } from '../../store/row.ts'
import { MESSAGE_LEASE_SECONDS } from '../limits.ts'
import type { QuietHours } from '../quiet-hours.ts'
import type { RuleQuietHours } from '../rules/rule.ts'

export type Batching = {
  /**
   * Milliseconds for which a message collects alerts, and between two batched messages of a
   * channel.
   */
  holdMs: number
  gapMs: number
  /** Milliseconds for which chats collect the alerts of a burst. */
  burstHoldMs: number
}

/** A message that is due, with what decides whether it is sent now. */
export type DueMessage = {
  id: string
  quietHours: QuietHours | null
  /** Of the rule whose quiet hours it may wait for. */
  ruleQuietHours: RuleQuietHours | null
  criticalAnytime: boolean
  hasCritical: boolean
}

export type TypesByDelivery = {
  /** Types that collect alerts for `burstHoldMs`. */
  bursts: string[]
  /** Messages a minute by type: those channels send one message after the other. */
  perMinute: Record<string, number>
}

/** Messages to channels; `listDue` finds those that are due. */
export const DUE_MESSAGES = {
  table: 'alert_message',
  dueAt: 'due_at',
  claimedUntil: 'claimed_until',
  leaseSeconds: MESSAGE_LEASE_SECONDS,
}

export const OUTBOX = createOutbox(DUE_MESSAGES, {
  reason: 'error',
  isOrphan: sql`r.channel_id is null`,
})

/**
 * Lists due messages with the quiet hours of their channels. Accounts take turns, and none gets
 * more than its share of messages in transit over all instances. Messages of deleted ones wait.
 */
export async function listDue(
  db: Db,
  { holdMs, gapMs, burstHoldMs }: Batching,
  { bursts, perMinute }: TypesByDelivery,
  { limit, perAccount }: { limit: number; perAccount: number },
): Promise<DueMessage[]> {
  const { rows } = await sql<DueMessage>`
    with sending as (
      select ${responsibleFor('c.workspace_id')} as responsible_id, count(*) as count
      from alert_message m join alert_channel c on c.id = m.channel_id
      where m.state in ('sending', 'handed-over') group by 1),
    ready as (
      select m.id, m.due_at, m.created_at, m.channel_id, m.rule_id, c.workspace_id, c.quiet_hours, c.critical_anytime,
        ${JSON.stringify(perMinute)}::jsonb ? c.type as is_serial
      from alert_message m join alert_channel c on c.id = m.channel_id
      where m.state = 'waiting' and m.due_at <= now() and coalesce(c.retry_at, '-infinity') <= now()
        and (not (m.collecting or m.rule_collecting)
          or c.type = any(${bursts}) and m.created_at <= now() - ${burstHoldMs} * interval '1 millisecond'
          or c.type <> all(${bursts}) and m.created_at <= now() - ${holdMs} * interval '1 millisecond'
            and coalesce(c.last_sent_at, '-infinity') <= now() - ${gapMs} * interval '1 millisecond')
        and ${hasTurn(perMinute)}),
    first as (
      select ready.*, row_number() over (partition by channel_id order by created_at, id) as place from ready),
    due as (${dueInTurn(READY_MESSAGES, {}, ['id', 'due_at', 'rule_id', 'quiet_hours', 'critical_anytime', 'turn', 'responsible_id'])})
    select due.id, due.quiet_hours, due.critical_anytime,
      (select r.quiet_hours from alert_rule r where r.id = due.rule_id) as rule_quiet_hours,
      exists (select from alert_message_content c join alert a on a.id = c.alert_id
        where c.message_id = due.id and not c.dropped and a.severity = 'critical' and a.phase <> 'resolved') as has_critical
    from due left join sending using (responsible_id)
    where due.turn + coalesce(sending.count, 0) <= ${perAccount}
    order by due.turn + coalesce(sending.count, 0), due.due_at limit ${limit}`.execute(db)
  return rows
}

/** Messages that their channels could send now; of some channels, one after the other. */
const READY_MESSAGES: DueRows = {
  table: 'first',
  dueAt: 'due_at',
  where: sql`(not r.is_serial or r.place = 1)`,
}

/** Whether channel `c` has a token and no message in transit, if it sends one after the other. */
export function hasTurn(perMinute: Record<string, number>): RawBuilder<boolean> {
  return sql<boolean>`(not ${JSON.stringify(perMinute)}::jsonb ? c.type
    or ${tokensNow(perMinute)} >= 1
    and not exists (select from alert_message t where t.channel_id = c.id and t.state in ('sending', 'handed-over')))`
}

/** Messages that may be sent at once after a pause. */
const BURST_TOKENS = 5

/** The tokens of channel `c` at this time. */
export function tokensNow(perMinute: Record<string, number>) {
  return sql`least(${BURST_TOKENS}, coalesce(c.tokens, ${BURST_TOKENS})
    + extract(epoch from now() - coalesce(c.tokens_at, now())) * (${JSON.stringify(perMinute)}::jsonb ->> c.type)::real / 60)`
}

export async function postponeMessage(db: Db, id: string, dueAt: Date): Promise<void> {
  await updateRows(db, 'alertMessage', { id, state: 'waiting' }, { dueAt })
}

/** Moves the alerts of a waiting message that are not critical into one of a later time. */
export async function postponeUncritical(db: Db, id: string, dueAt: Date): Promise<void> {
  // The channel is locked first, as where it is deleted.
  await sql`
    with channel as (
      select c.id from alert_channel c where c.id = (select channel_id from alert_message where id = ${id})
      for key share),
    message as (
      update alert_message m set collecting = false from channel
      where m.id = ${id} and m.state = 'waiting' and m.channel_id = channel.id returning m.id, m.channel_id),
    uncritical as (
      select c.message_id, c.alert_id from alert_message_content c
      join message on message.id = c.message_id join alert a on a.id = c.alert_id
      where not c.dropped and (a.severity <> 'critical' or a.phase = 'resolved')),
    later as (
      insert into alert_message (channel_id, collecting, due_at)
      select channel_id, false, ${dueAt} from message where exists (select from uncritical) returning id)
    update alert_message_content c set message_id = later.id from later, uncritical u
    where c.message_id = u.message_id and c.alert_id = u.alert_id`.execute(db)
}

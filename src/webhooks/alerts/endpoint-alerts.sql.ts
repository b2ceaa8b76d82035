import { sql } from 'kysely'
import type { SignatureScheme } from '../../protocols/webhook-signature.ts'
import type { Db } from '../../store/database.ts'
import { claimDueRows, type DueRows } from '../../store/due-rows.ts'
import { responsibleFor } from '../../store/responsible.ts'
import { ALERT_EVALUATION_SECONDS } from '../limits.ts'
import { deleteRows, type Row, updateRows } from '../../store/row.ts'

/** The alerts that an endpoint raises. */
export type AlertSettings = {
  /** Minutes between two alerts about requests; null for none. */
  calledEveryMinutes: number | null
  /** Whether requests without a valid signature raise an alert. */
  badSignature: boolean
  /** Minutes without a request that raise an alert; null for none. */
  silentAfterMinutes: number | null
}

export const NO_ALERTS: AlertSettings = {
  calledEveryMinutes: null,
  badSignature: false,
  silentAfterMinutes: null,
}

/** The alert settings of the endpoint in the query, as a column. */
export const ALERT_SETTINGS = sql<AlertSettings>`coalesce((
  select json_build_object('calledEveryMinutes', a.called_every_minutes, 'badSignature', a.bad_signature,
    'silentAfterMinutes', a.silent_after_minutes)
  from webhook_alert a where a.endpoint_id = webhook_endpoint.id), ${JSON.stringify(NO_ALERTS)}::json)`.as(
  'alerts',
)

const STATE = [
  'checkedCount',
  'seenSeq',
  'lastRequestAt',
  'calledCount',
  'calledAt',
  'silentFrom',
  'silentSince',
  'silentDay',
  'silentCount',
  'badCount',
  'badAt',
  'badReason',
  'badAlertAt',
  'goodAt',
] as const

/** What is remembered of an endpoint between two evaluations. */
export type AlertState = Row<'webhookAlert', typeof STATE>

/**
 * Saves the settings of an endpoint. What begins to raise alerts starts anew: with the requests, and
 * the time, from now on. Call it after the endpoint’s row was updated in the same transaction, which
 * locks out new requests.
 */
export async function saveAlertSettings(
  db: Db,
  endpointId: string,
  { calledEveryMinutes, badSignature, silentAfterMinutes }: AlertSettings,
): Promise<void> {
  await sql`
    with newest as (
      select e.request_count, r.seq, r.received_at from webhook_endpoint e left join lateral (
        select seq, received_at from webhook_request where endpoint_id = e.id order by seq desc limit 1) r on true
      where e.id = ${endpointId})
    insert into webhook_alert as a (endpoint_id, called_every_minutes, bad_signature, silent_after_minutes,
      seen_seq, last_request_at, called_count)
    select ${endpointId}, ${calledEveryMinutes}, ${badSignature}, ${silentAfterMinutes},
      coalesce(seq, 0), received_at, request_count from newest
    on conflict (endpoint_id) do update set
      called_every_minutes = excluded.called_every_minutes, bad_signature = excluded.bad_signature,
      silent_after_minutes = excluded.silent_after_minutes, run = a.run + 1,
      called_count = case when a.called_every_minutes is null then excluded.called_count else a.called_count end,
      seen_seq = case when a.bad_signature then a.seen_seq else greatest(a.seen_seq, excluded.seen_seq) end,
      bad_count = case when excluded.bad_signature then a.bad_count else 0 end,
      bad_alert_at = case when excluded.bad_signature then a.bad_alert_at end,
      last_request_at = greatest(a.last_request_at, excluded.last_request_at),
      silent_from = case when a.silent_after_minutes is distinct from excluded.silent_after_minutes
        then now() else a.silent_from end,
      silent_since = case when a.silent_after_minutes is not distinct from excluded.silent_after_minutes
        then a.silent_since end`.execute(db)
}

/** Deletes the settings of an endpoint that raises no alerts. */
export async function deleteAlertSettings(db: Db, endpointId: string): Promise<void> {
  await deleteRows(db, 'webhookAlert', { endpointId })
}

/**
 * Keeps the count of requests that no alert has reported, before the count of the endpoint restarts
 * at 0. Locks the endpoint, so that no request is counted in between.
 */
export async function carryUnreportedCalls(db: Db, endpointId: string): Promise<void> {
  await sql`select from webhook_endpoint where id = ${endpointId} for no key update`.execute(db)
  await sql`
    update webhook_alert a set called_count = a.called_count - e.request_count, checked_count = -1, run = run + 1
    from webhook_endpoint e where e.id = a.endpoint_id and a.endpoint_id = ${endpointId}`.execute(
    db,
  )
}

/** Records a pass, and restarts the clock of all silences after a longer time without one. */
export async function recordPass(
  db: Db,
  maxGapSeconds: number,
): Promise<{ now: Date; watchedSince: Date }> {
  const { rows } = await sql<{ now: Date; watchedSince: Date }>`
    insert into webhook_watch as w default values on conflict (id) do update
      set watched_since = case when w.last_pass_at < now() - make_interval(secs => ${maxGapSeconds})
          then now() else w.watched_since end,
        last_pass_at = now()
    returning now(), watched_since`.execute(db)
  return rows[0] as { now: Date; watchedSince: Date }
}

/** An endpoint to evaluate; `run` identifies this evaluation. */
export type WatchedEndpoint = AlertSettings & {
  id: string
  run: number
  workspaceId: string
  /** The account that answers for its workspace. */
  responsibleId: string
  token: string
  label: string
  requestCount: number
  signature: SignatureScheme | null
  signatureSecret: string | null
  /** Its newest request, where there are new ones. */
  newest: { seq: number; receivedAt: Date } | null
  state: AlertState
}

type ClaimedRow = Omit<WatchedEndpoint, 'newest' | 'state'> &
  AlertState & { newestSeq: number | null; newestAt: Date | null }

/**
 * Endpoints whose alerts are due to be evaluated, those that wait longest first: a pass evaluates
 * all of them. A claim moves the time.
 */
const DUE_EVALUATIONS: DueRows = {
  table: 'webhook_alert',
  key: 'endpoint_id',
  dueAt: 'due_at',
  leaseSeconds: ALERT_EVALUATION_SECONDS,
  claims: 'run',
  join: sql`join webhook_endpoint e on e.id = r.endpoint_id`,
  workspace: 'e.workspace_id',
  turn: null,
}

/**
 * Claims endpoints that are due. Requests are read only of endpoints with new ones.
 * @param passAt time of the pass, which claims each endpoint once
 */
export async function claimWatched(
  db: Db,
  passAt: Date,
  limit: number,
): Promise<WatchedEndpoint[]> {
  const times = {
    isDue: sql`r.due_at <= ${passAt}`,
    now: sql<Date>`greatest(now(), ${passAt}::timestamptz)`,
  }
  const { rows } = await sql<ClaimedRow>`
    with claimed as (${claimDueRows(DUE_EVALUATIONS, { ...times, limit }, sql`r.*`)})
    select c.endpoint_id as id, c.*, e.workspace_id, ${responsibleFor('e.workspace_id')} as responsible_id, e.token, e.label, e.request_count, e.signature, e.signature_secret,
      newest.seq as newest_seq, newest.received_at as newest_at
    from claimed c join webhook_endpoint e on e.id = c.endpoint_id
    left join lateral (
      select seq, received_at from webhook_request r where r.endpoint_id = e.id and r.seq > c.seen_seq
      order by seq desc limit 1) newest on e.request_count <> c.checked_count`.execute(db)
  return rows.map(({ newestSeq, newestAt, ...row }) => ({
    ...row,
    newest:
      newestSeq === null || newestAt === null ? null : { seq: newestSeq, receivedAt: newestAt },
    state: Object.fromEntries(STATE.map((name) => [name, row[name]])) as AlertState,
  }))
}

/** Makes an endpoint the first one of the next pass. */
export async function requeueWatched(
  db: Db,
  { id, run }: WatchedEndpoint,
  at: Date,
): Promise<void> {
  await updateRows(db, 'webhookAlert', { endpointId: id, run }, { dueAt: at })
}

/** @returns false where the endpoint was changed, cleared or claimed again meanwhile */
export async function saveAlertState(
  db: Db,
  { id, run }: WatchedEndpoint,
  state: AlertState,
): Promise<boolean> {
  return updateRows(db, 'webhookAlert', { endpointId: id, run }, state)
}

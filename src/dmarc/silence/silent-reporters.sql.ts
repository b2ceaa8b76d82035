import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { listRows, updateRows } from '../../store/row.ts'
import type { Via } from '../intake/report-intake.sql.ts'

/** A domain without reports. `lastAt` is when its last report was received. */
export type SilenceStart = {
  id: string
  workspaceId: string
  domain: string
  mailbox: string
  lastAt: Date
  via: Via | null
}

/**
 * Records a pass, and restarts the clock after a longer time without one: the service was down.
 * @returns since when reports could be received without interruption
 */
export async function recordPass(db: Db, maxGapSeconds: number): Promise<Date> {
  const { rows } = await sql<{ watchedSince: Date }>`
    insert into dmarc_watch as w default values on conflict (id) do update
      set watched_since = case when w.last_pass_at < now() - make_interval(secs => ${maxGapSeconds})
          then now() else w.watched_since end,
        last_pass_at = now()
    returning watched_since`.execute(db)
  return (rows[0] as { watchedSince: Date }).watchedSince
}

type SilenceRule = { silentDays: number; ofDays: number; leastDays: number; forgetDays: number }

/**
 * Domains without a report for `silentDays`, that had reports on `leastDays` of the `ofDays` before,
 * and no alert about it. A silence of more than `forgetDays` is no news.
 */
export async function listSilent(
  db: Db,
  { silentDays, ofDays, leastDays, forgetDays }: SilenceRule,
  limit: number,
): Promise<SilenceStart[]> {
  const { rows } = await sql<SilenceStart>`
    select d.id, d.workspace_id, d.domain, d.mailbox, last.received_at as last_at, last.via
    from dmarc_domain d cross join lateral (
      select r.received_at, f.via from dmarc_report r left join dmarc_delivery f on f.id = r.delivery_id
      where r.domain_id = d.id order by r.received_at desc limit 1) last
    where d.silent_since is null and not ${isInDeletedWorkspace('d.workspace_id')}
      and last.received_at < now() - make_interval(days => ${silentDays})
      and last.received_at > now() - make_interval(days => ${forgetDays})
      and (select count(distinct day) from dmarc_reporter_day s where s.domain_id = d.id
        and s.day > last.received_at::date - ${ofDays + 1}::int and s.day <= last.received_at::date) >= ${leastDays}
    order by d.id limit ${limit}`.execute(db)
  return rows
}

/** @returns false if the silence was recorded already */
export async function markSilent(db: Db, { id, lastAt }: SilenceStart): Promise<boolean> {
  return updateRows(db, 'dmarcDomain', { id, silentSince: null }, { silentSince: lastAt })
}

export type SilenceEnd = Pick<SilenceStart, 'id' | 'workspaceId' | 'domain'> & {
  silentSince: Date
  resumedAt: Date
}

/** Silent domains that received a report again. */
export async function listResumed(db: Db, limit: number): Promise<SilenceEnd[]> {
  const { rows } = await sql<SilenceEnd>`
    select d.id, d.workspace_id, d.domain, d.silent_since, first.received_at as resumed_at
    from dmarc_domain d cross join lateral (
      select r.received_at from dmarc_report r where r.domain_id = d.id
        and r.received_at > d.silent_since + interval '1 second'
      order by r.received_at limit 1) first
    where d.silent_since is not null and not ${isInDeletedWorkspace('d.workspace_id')}
    order by d.id limit ${limit}`.execute(db)
  return rows
}

/** @returns false if the end of the silence was recorded already */
export async function markResumed(db: Db, { id, silentSince }: SilenceEnd): Promise<boolean> {
  return updateRows(db, 'dmarcDomain', { id, silentSince }, { silentSince: null })
}

/** The mailboxes of a workspace, and since when each fails; null for one that can be read. */
export async function listMailboxStates(
  db: Db,
  workspaceId: string,
): Promise<{ username: string; failingSince: Date | null }[]> {
  return listRows(db, 'dmarcMailbox', ['username', 'failingSince'], { workspaceId }, 'id')
}

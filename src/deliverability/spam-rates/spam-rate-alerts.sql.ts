import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { listRows, lockRow } from '../../store/row.ts'
import type { SpamRateLevel, SpamRateSubject } from './spam-rate.ts'

export type SpamRateAlertRow = SpamRateSubject & { level: SpamRateLevel; since: Date }

const ALERT = ['workspaceId', 'domain', 'provider', 'level', 'since'] as const

/** Finds and locks the alert about a rate. */
export async function lockSpamRateAlert(
  db: Db,
  { workspaceId, domain, provider }: SpamRateSubject,
): Promise<SpamRateAlertRow | undefined> {
  return lockRow(db, 'spamRateAlert', ALERT, { workspaceId, domain, provider })
}

/** Stores the level of a rate; `since` is when it was first above a limit. */
export async function saveSpamRateAlert(
  db: Db,
  subject: SpamRateSubject,
  level: SpamRateLevel,
): Promise<SpamRateAlertRow> {
  const { rows } = await sql<SpamRateAlertRow>`
    insert into spam_rate_alert (workspace_id, domain, provider, level)
    values (${subject.workspaceId}, ${subject.domain}, ${subject.provider}, ${level})
    on conflict (workspace_id, domain, provider)
      do update set level = excluded.level, known_at = now()
    returning workspace_id, domain, provider, level, since`.execute(db)
  return rows[0] as SpamRateAlertRow
}

export async function deleteSpamRateAlert(db: Db, subject: SpamRateSubject): Promise<void> {
  await db
    .deleteFrom('spamRateAlert')
    .where('workspaceId', '=', subject.workspaceId)
    .where('domain', '=', subject.domain)
    .where('provider', '=', subject.provider)
    .execute()
}

/** Alerts whose rate has not been known for some days. */
export async function listForgottenSpamRates(db: Db, days: number): Promise<SpamRateAlertRow[]> {
  const rows = await db
    .selectFrom('spamRateAlert')
    .select(ALERT)
    .where('knownAt', '<', sql<Date>`now() - make_interval(days => ${days})`)
    .limit(100)
    .execute()
  return rows as SpamRateAlertRow[]
}

/** The levels of a domain, by provider. */
export async function listSpamRateLevels(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<Pick<SpamRateAlertRow, 'provider' | 'level'>[]> {
  return listRows(db, 'spamRateAlert', ['provider', 'level'], { workspaceId, domain })
}

import { sql } from 'kysely'
import type { Db } from '../store/database.ts'

/** What the database of a demo is marked with. */
const MARK = 'A demo of Portreeve: everything in it is deleted at each start.'

/** The domain of the demo’s own accounts. */
export const ACCOUNT_DOMAIN = 'seagull.example'

/** Whether a database is empty, or contains nothing but a demo. */
export async function isDemoOrEmpty(db: Db): Promise<boolean> {
  const { rows } = await sql<{ tables: number; mark: string | null; hasAccounts: boolean }>`
    select (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema$)') as tables,
      (select shobj_description(oid, 'pg_database') from pg_database where datname = current_database()) as mark,
      to_regclass('public.account') is not null as has_accounts`.execute(db)
  const [{ tables, mark, hasAccounts } = { tables: 1, mark: null, hasAccounts: false }] = rows
  if (tables === 0) return true
  if (mark !== MARK) return false
  return !hasAccounts || !(await hasOtherAccounts(db))
}

async function hasOtherAccounts(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('account')
    .select('id')
    .where('email', 'not like', `%@${ACCOUNT_DOMAIN}`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes everything in a database and marks it as that of a demo. */
export async function clearDatabase(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string; database: string }>`
    select quote_ident(nspname) as name, quote_ident(current_database()) as database from pg_namespace
    where nspname !~ '^(pg_|information_schema$)'`.execute(db)
  for (const { name } of rows) await sql.raw(`drop schema ${name} cascade`).execute(db)
  await sql.raw('create schema public').execute(db)
  await sql.raw(`comment on database ${rows[0]?.database ?? 'portreeve'} is '${MARK}'`).execute(db)
}

/** Sets columns of rows of a table, as times gone by would have. */
export async function rewrite(
  db: Db,
  table: string,
  columns: Record<string, unknown>,
  where: Record<string, unknown>,
): Promise<void> {
  const sets = Object.entries(columns).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  const conditions = Object.entries(where).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  await sql`update ${sql.table(table)} set ${sql.join(sets)} where ${conditions.length > 0 ? sql.join(conditions, sql` and `) : sql`true`}`.execute(
    db,
  )
}

/** Records the alerts that wait as sent at their time: a demo sends nothing. */
export async function markAlertsSent(db: Db, at: Date): Promise<void> {
  await sql`
    update alert_message set state = 'sent', collecting = false, rule_collecting = false, attempts = 1,
      created_at = ${at}, due_at = ${at}, ended_at = ${new Date(at.getTime() + 4_000)}
    where state = 'waiting'`.execute(db)
}

/**
 * Moves the times at which the seed stored rows to those at which they would have been stored, and
 * deletes what only the seed needed.
 * @param tokenLabel of its API token
 */
export async function settle(db: Db, tokenLabel: string): Promise<void> {
  await sql`delete from api_token where label = ${tokenLabel}`.execute(db)
  await sql`delete from migration_secret`.execute(db)

  await sql`update dmarc_report set received_at = ends_at + interval '5 hours' + random() * interval '3 hours'`.execute(
    db,
  )
  await sql`update dmarc_delivery d set received_at = r.received_at, via = 'smtp', sender = 'noreply-dmarc-support@google.com'
    from dmarc_report r where r.delivery_id = d.id`.execute(db)
  await sql`update dmarc_domain set created_at = now() - interval '92 days',
    verified_at = now() - interval '91 days', verified_by = 'txt', checked_at = now() - interval '2 hours'`.execute(
    db,
  )
  await sql`update alert set created_at = at`.execute(db)
  // As if a person had made them in the dashboard, one after the other.
  await sql`update audit_entry e set token_id = null, token_label = null,
      at = now() - interval '58 days' + made.n * interval '5 hours'
    from (select id, row_number() over (order by id) as n from audit_entry) made where made.id = e.id`.execute(
    db,
  )
  await sql`delete from pgboss.job`.execute(db)
}

export const listEndpoints = (db: Db) =>
  db.selectFrom('webhookEndpoint').select(['id', 'label']).execute()

export const listHosts = (db: Db) => db.selectFrom('monitoredHost').select('id').execute()

export const listDelistingSteps = (db: Db) =>
  db.selectFrom('delistingStep').select(['id', 'processId']).execute()

/** Inserts the error of a whole migration. */
export async function insertMigrationError(
  db: Db,
  { migrationId, code, message }: { migrationId: string; code: string; message: string },
): Promise<void> {
  const nowhere = { folder: '', uid: null, messageId: null, size: null, attempts: 1 }
  await db
    .insertInto('migrationError')
    .values({ ...nowhere, migrationId, code, message })
    .execute()
}

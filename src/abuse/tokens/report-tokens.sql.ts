import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows, deleteRows, insertRow } from '../../store/row.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { responsibleFor } from '../../store/responsible.ts'

export type TokenRow = { id: string; label: string; lastFour: string; createdAt: Date }

/** What a token is for: to report, or to read the fleet list. */
export type TokenUse = 'report' | 'bouncer'

const TOKEN = ['id', 'label', 'lastFour', 'createdAt'] as const

export async function insertToken(
  db: Db,
  use: TokenUse,
  token: { workspaceId: string; label: string; hash: Buffer; lastFour: string },
): Promise<TokenRow> {
  const rights = { canReport: use === 'report', readsFleet: use === 'bouncer' }
  return insertRow(db, 'abuseToken', { ...token, ...rights }, TOKEN)
}

export type TokenFigures = {
  totalReports: number
  last7d: number
  currentlyListedFromMyReports: number
}

/**
 * Reports of thirty days of a large token. Counting its listed addresses reads all of them, so a job
 * counts, and the count is up to `MAX_COUNT_AGE` old.
 */
const LARGE_TOKEN_REPORTS = 20_000
const MAX_COUNT_AGE = sql`interval '1 hour'`
const RECOUNT_AGE = sql`interval '30 minutes'`

const LISTED_NOW = sql`(select count(*)::int from abuse_address as known where known.state = 'listed'
  and known.address in (select address from abuse_report where token_id = token.id))`

const IS_LARGE = sql`(select coalesce(sum(reports), 0) from abuse_token_count as recent
  where recent.token_id = token.id and recent.day > current_date - 31) > ${sql.lit(LARGE_TOKEN_REPORTS)}`

/** Listed addresses that were reported with a token in the last thirty days. */
const LISTED = sql`case when token.listed_counted_at between now() - ${MAX_COUNT_AGE} and now() and ${IS_LARGE}
  then token.listed_count else ${LISTED_NOW} end`

/** Lists large tokens whose listed addresses were not counted lately. */
export async function listUncountedTokens(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select token.id from abuse_token as token
    where (token.listed_counted_at between now() - ${RECOUNT_AGE} and now()) is not true and ${IS_LARGE}`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

/** Counts the listed addresses of a token, and keeps the count. */
export async function recountListed(db: Db, tokenId: string): Promise<void> {
  const counted = await sql<{ count: number }>`
    select ${LISTED_NOW} as count from abuse_token as token where token.id = ${tokenId}`.execute(db)
  // In a statement of its own, so that the row is not locked while it counts.
  await db
    .updateTable('abuseToken')
    .set({ listedCount: counted.rows[0]?.count ?? 0, listedCountedAt: sql`now()` })
    .where('id', '=', tokenId)
    .execute()
}

/**
 * Lists tokens, newest first, each with the number of its reports.
 * @param weekAgo the day (`2026-11-21`) after which reports count for the last seven days
 */
export async function listReportTokens(
  db: Db,
  workspaceId: string,
  weekAgo: string,
): Promise<(TokenRow & TokenFigures)[]> {
  const { rows } = await sql<TokenRow & TokenFigures>`
    select token.id, token.label, token.last_four, token.created_at,
      coalesce(sum(counted.reports), 0)::int as total_reports,
      coalesce(sum(counted.reports) filter (where counted.day > ${weekAgo}), 0)::int as last7d,
      ${LISTED} as currently_listed_from_my_reports
    from abuse_token as token
    left join abuse_token_count as counted on counted.token_id = token.id
    where token.workspace_id = ${workspaceId} and token.can_report
    group by token.id
    order by token.id desc`.execute(db)
  return rows
}

/** When a key was last used, to the minute. */
export type BouncerKeyRow = TokenRow & { usedAt: Date | null }

/** Lists keys that only read the fleet list, newest first. */
export async function listBouncerKeys(db: Db, workspaceId: string): Promise<BouncerKeyRow[]> {
  const { rows } = await sql<BouncerKeyRow>`
    select t.id, t.label, t.last_four, t.created_at, greatest(
      (select max(followed_at) from fleet_server s where s.token_id = t.id),
      (select max(pulled_at) from fleet_bouncer b where b.token_id = t.id)) as used_at
    from abuse_token t
    where t.workspace_id = ${workspaceId} and not t.can_report
    order by t.id desc`.execute(db)
  return rows
}

export async function countTokens(db: Db, use: TokenUse, workspaceId: string): Promise<number> {
  return countRows(db, 'abuseToken', { workspaceId, canReport: use === 'report' })
}

export async function deleteToken(
  db: Db,
  use: TokenUse,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  return deleteRows(db, 'abuseToken', { id, workspaceId, canReport: use === 'report' })
}

/** Finds a token, unless its workspace is deleted. */
export async function findToken(db: Db, hash: Buffer): Promise<string | undefined> {
  const row = await db
    .selectFrom('abuseToken')
    .select('id')
    .where('hash', '=', hash)
    .where((eb) => eb.not(isInDeletedWorkspace('abuseToken.workspaceId')))
    .executeTakeFirst()
  return row?.id
}

/** What a token allows. */
export type TokenRight = 'canReport' | 'readsFleet'

/** A token, its workspace, and the account that answers for that. */
export type TokenOwner = { id: string; label: string; workspaceId: string; responsibleId: string }

export async function findTokenWith(
  db: Db,
  right: TokenRight,
  hash: Buffer,
): Promise<TokenOwner | undefined> {
  return db
    .selectFrom('abuseToken')
    .select(['id', 'label', 'workspaceId', responsibleFor('workspaceId').as('responsibleId')])
    .where('hash', '=', hash)
    .where(right, '=', true)
    .where((eb) => eb.not(isInDeletedWorkspace('abuseToken.workspaceId')))
    .executeTakeFirst()
}

export async function sumTokenReports(
  db: Db,
  tokenId: string,
): Promise<{ day: string; service: string; count: number }[]> {
  const { rows } = await sql<{ day: string; service: string; count: number }>`
    select day, service, reports as count from abuse_token_count where token_id = ${tokenId}`.execute(
    db,
  )
  return rows
}

/** Counts listed addresses that were reported with this token in the last thirty days. */
export async function countListedOf(db: Db, tokenId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select ${LISTED} as count from abuse_token as token where token.id = ${tokenId}`.execute(db)
  return rows[0]?.count ?? 0
}

import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

export type AuditEntry = {
  /** Null for an action on the installation. */
  workspaceId: string | null
  actorId: string | null
  actorEmail: string
  /** The API token that was used, if any. */
  token: { id: string; label: string } | null
  what: string
  route: string
  details: Record<string, unknown>
}

/**
 * Inserts entries with one statement, in their order. An actor or a workspace that was deleted
 * meanwhile must not prevent the other entries: the actor is left out, and the entry of the
 * workspace is gone with it.
 */
export async function insertAuditEntries(db: Db, entries: AuditEntry[]): Promise<void> {
  await sql`
    insert into audit_entry
      (workspace_id, actor_id, actor_email, token_id, token_label, what, route, details)
    select e."workspaceId", a.id, e."actorEmail", (e.token->>'id')::uuid, e.token->>'label', e.what, e.route, e.details
    from rows from (jsonb_to_recordset(${JSON.stringify(entries, storable)}::jsonb) as ("workspaceId" uuid, "actorId" uuid,
      "actorEmail" text, token jsonb, what text, route text, details jsonb)) with ordinality as
      e ("workspaceId", "actorId", "actorEmail", token, what, route, details, position)
    left join account a on a.id = e."actorId"
    where e."workspaceId" is null or exists (select from workspace w where w.id = e."workspaceId")
    order by e.position`.execute(db)
}

/** PostgreSQL rejects NUL and lone surrogates in JSON. */
function storable(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value
}

/** What a page of entries shows: those of a workspace, or with null those of the installation. */
export type AuditFilter = {
  workspaceId: string | null
  text?: string | undefined
  /** The email address of the person, as it was then. */
  actor?: string | undefined
}

/** Entries that contain the text, ignoring case, newest first. */
export async function listAuditEntries(
  db: Db,
  filter: AuditFilter,
  page: { limit: number; offset: number },
) {
  const rows = await db
    .selectFrom('auditEntry')
    .select([
      'id',
      'at',
      'actorId',
      'actorEmail',
      'tokenId',
      'tokenLabel',
      'what',
      'route',
      'details',
    ])
    .where(matches(filter))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows.map(({ tokenId, tokenLabel, ...entry }) => ({
    ...entry,
    token: tokenId === null ? null : { id: tokenId, label: tokenLabel ?? '' },
  }))
}

export async function countAuditEntries(db: Db, filter: AuditFilter): Promise<number> {
  const { count } = await db
    .selectFrom('auditEntry')
    .where(matches(filter))
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function matches({ workspaceId, text, actor }: AuditFilter) {
  const isInLog =
    workspaceId === null
      ? sql<boolean>`workspace_id is null`
      : sql<boolean>`workspace_id = ${workspaceId}::uuid`
  const isOwn = actor === undefined ? isInLog : sql<boolean>`${isInLog} and actor_email = ${actor}`
  if (text === undefined) return isOwn
  return sql<boolean>`${isOwn} and position(lower(${text}) in lower(concat_ws(' ', actor_email, token_label, what, route, details::text))) > 0`
}

/** Deletes the oldest entries of each workspace that has more than this number. */
export async function deleteExcessAuditEntries(db: Db, maxEntries: number): Promise<void> {
  const { rows } = await sql<{ workspaceId: string }>`
    select workspace_id from audit_entry where workspace_id is not null
    group by workspace_id having count(*) > ${maxEntries}`.execute(db)
  for (const { workspaceId } of rows)
    await sql`
      delete from audit_entry where workspace_id = ${workspaceId} and id <= (
        select id from audit_entry where workspace_id = ${workspaceId}
        order by id desc offset ${maxEntries} limit 1)`.execute(db)
}

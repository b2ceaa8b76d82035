import { sql, type Transaction } from 'kysely'
import type { Db } from '../store/database.ts'
import { isInDeletedWorkspace } from '../store/deleted-workspaces.ts'
import { claimDueRows, type DueRows } from '../store/due-rows.ts'
import type { DB } from '../store/tables.ts'
import { MINUTE_SECONDS } from '../time.ts'
import { findRow, type Row } from '../store/row.ts'

/** Why the latest version of a feed is not used. */
export type FeedProblem = 'shrunk' | 'grown' | 'malformed' | 'unreachable' | 'outdated'

/** Validators of a file for conditional requests (RFC 9110, section 8.8). */
export type Validators = Record<string, { etag?: string; lastModified?: string }>

const FEED = [
  'id',
  'enabled',
  'networkCount',
  'skippedCount',
  'changedAt',
  'confirmedAt',
  'checkedAt',
  'dueAt',
  'problem',
  'problemText',
  'problemAt',
  'heldCount',
  'failures',
] as const

/** A feed without its networks. */
export type FeedRow = Row<'publicFeed', typeof FEED, { problem: FeedProblem | null }>

export async function listFeeds(db: Db): Promise<FeedRow[]> {
  return (await db.selectFrom('publicFeed').select(FEED).orderBy('id').execute()) as FeedRow[]
}

export type ClaimedFeed = FeedRow & {
  hash: Buffer | null
  networks: Buffer | null
  validators: Validators
  heldHash: Buffer | null
}

/** Feeds of the installation whose download is due, by the clock of the service. */
export const DUE_FEEDS: DueRows = {
  table: 'public_feed',
  dueAt: 'due_at',
  claimedUntil: 'claimed_until',
  // Longer than the downloads of a feed can take.
  leaseSeconds: 15 * MINUTE_SECONDS,
  workspace: null,
  where: sql`r.enabled`,
}

/** Claims the feed that has been due longest; undefined when none is due. */
export async function claimDueFeed(db: Db, now: Date): Promise<ClaimedFeed | undefined> {
  const columns = [...FEED, 'hash', 'networks', 'validators', 'heldHash']
  const { rows } = await claimDueRows<ClaimedFeed>(DUE_FEEDS, { now, limit: 1 }, columns).execute(
    db,
  )
  return rows[0]
}

/** A version of a feed, encoded. */
export type FeedVersion = {
  networks: Buffer
  networkCount: number
  skippedCount: number
  hash: Buffer
}

type Problem = { problem: FeedProblem | null; problemText: string; problemAt: Date | null }

const NOT_HELD = {
  heldNetworks: null,
  heldCount: null,
  heldSkippedCount: null,
  heldHash: null,
} as const

const NO_PROBLEM = { problem: null, problemText: '', problemAt: null } as const

/** How long replaced versions are kept: longer than bouncers keep an entry. */
const REPLACED_RETENTION_HOURS = 50

/** Keeps the version in use, which is replaced now, so that bouncers can be told what changed. */
async function keepReplaced(db: Transaction<DB>, id: string, at: Date): Promise<void> {
  await sql`
    insert into public_feed_version (feed_id, hash, networks, replaced_at)
    select id, hash, networks, ${at} from public_feed
    where id = ${id} and networks is not null and hash is not null
    on conflict (feed_id, hash) do update set networks = excluded.networks, replaced_at = excluded.replaced_at`.execute(
    db,
  )
  await deleteReplacedVersions(db, at, id)
}

/** Deletes old versions that were replaced too long ago, of all feeds or of one. */
export async function deleteReplacedVersions(
  db: Db,
  now: Date,
  id: string | null = null,
): Promise<void> {
  await sql`
    delete from public_feed_version
    where replaced_at < ${now}::timestamptz - make_interval(hours => ${REPLACED_RETENTION_HOURS})
      and (${id}::text is null or feed_id = ${id})`.execute(db)
}

/** The networks of a version of a feed, in use or replaced; null when it is gone. */
export async function findVersion(db: Db, id: string, hash: Buffer): Promise<Buffer | null> {
  const { rows } = await sql<{ networks: Buffer }>`
    select networks from public_feed where id = ${id} and hash = ${hash} and networks is not null
    union all
    select networks from public_feed_version where feed_id = ${id} and hash = ${hash}
    limit 1`.execute(db)
  return rows[0]?.networks ?? null
}

export async function saveVersion(
  db: Transaction<DB>,
  id: string,
  version: FeedVersion & { validators: Validators; at: Date; dueAt: Date },
): Promise<void> {
  const { at, validators, ...saved } = version
  const times = { changedAt: at, confirmedAt: at, checkedAt: at }
  await keepReplaced(db, id, at)
  await update(db, id, {
    ...saved,
    ...times,
    ...NOT_HELD,
    ...NO_PROBLEM,
    validators: JSON.stringify(validators),
  })
}

/** Saves that the version in use is still the latest one. */
export async function saveConfirmed(
  db: Transaction<DB>,
  id: string,
  { at, dueAt, ...problem }: { at: Date; dueAt: Date } & Problem,
): Promise<void> {
  await update(db, id, { confirmedAt: at, checkedAt: at, dueAt, ...problem, ...NOT_HELD })
}

/** Saves that the latest version is not used; an administrator may accept it if it is `held`. */
export async function saveRejected(
  db: Transaction<DB>,
  id: string,
  { at, dueAt, held, ...problem }: { at: Date; dueAt: Date; held: FeedVersion | null } & Problem,
): Promise<void> {
  const kept = held && {
    heldNetworks: held.networks,
    heldCount: held.networkCount,
    heldSkippedCount: held.skippedCount,
    heldHash: held.hash,
  }
  await update(db, id, { checkedAt: at, dueAt, ...problem, ...(kept ?? NOT_HELD) })
}

async function update(db: Transaction<DB>, id: string, values: object): Promise<void> {
  await db
    .updateTable('publicFeed')
    .set({ claimedUntil: null, failures: 0, ...values })
    .where('id', '=', id)
    .execute()
}

export async function saveFailure(
  db: Transaction<DB>,
  id: string,
  { at, dueAt, failures, ...problem }: { at: Date; dueAt: Date; failures: number } & Problem,
): Promise<void> {
  await update(db, id, { checkedAt: at, dueAt, failures, ...problem })
}

/** Puts the version that is held back in use; undefined when there is none. */
export async function acceptHeld(
  db: Transaction<DB>,
  id: string,
  at: Date,
): Promise<{ id: string } | undefined> {
  await keepReplaced(db, id, at)
  const { rows } = await sql<{ id: string }>`
    update public_feed set
      networks = held_networks, network_count = held_count, skipped_count = held_skipped_count, hash = held_hash,
      held_networks = null, held_count = null, held_skipped_count = null, held_hash = null,
      problem = null, problem_text = '', problem_at = null, changed_at = ${at}, validators = '{}'
    where id = ${id} and enabled and held_networks is not null
    returning id`.execute(db)
  return rows[0]
}

/** Enables a feed, which is then downloaded, or disables it and deletes its networks. */
export async function setEnabled(
  db: Transaction<DB>,
  id: string,
  enabled: boolean,
  now: Date,
): Promise<void> {
  if (!enabled) await keepReplaced(db, id, now)
  const nothing = {
    networks: null,
    networkCount: 0,
    skippedCount: 0,
    hash: null,
    changedAt: null,
    confirmedAt: null,
    validators: '{}',
    ...NOT_HELD,
    ...NO_PROBLEM,
  }
  await db
    .insertInto('publicFeed')
    .values({ id, enabled, dueAt: now })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ enabled, failures: 0, ...(enabled ? {} : nothing) })
        .where('publicFeed.enabled', '<>', enabled),
    )
    .execute()
}

/** The networks of the enabled feeds whose version is not one of these, and all enabled versions. */
export async function listVersions(db: Db) {
  return db
    .selectFrom('publicFeed')
    .select(['id', 'hash', 'changedAt'])
    .where('enabled', '=', true)
    .where('networks', 'is not', null)
    .execute()
}

export async function findNetworks(db: Db, id: string): Promise<Buffer | null> {
  const row = await findRow(db, 'publicFeed', ['networks'], { id })
  return row?.networks ?? null
}

/** Lists the workspaces that are alerted: those that chose a feed, and those of administrators. */
export async function listAlertedWorkspaces(db: Db, feedId: string): Promise<string[]> {
  const { rows } = await sql<{ workspaceId: string }>`
    select workspace_id from fleet
    where ${feedId} = any(feeds) and not ${isInDeletedWorkspace('fleet.workspace_id')}
    union
    select m.workspace_id from membership m join account a on a.id = m.account_id
    where a.admin and m.role = 'owner' and not ${isInDeletedWorkspace('m.workspace_id')}`.execute(
    db,
  )
  return rows.map(({ workspaceId }) => workspaceId)
}

import { sql } from 'kysely'
import { boundedOf, type Bounded } from '../../store/bounded.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { deleteRows, lockAndCountRows, type Row, updateRows } from '../../store/row.ts'

export type VerifiedBy = 'txt' | 'rua'

const DOMAIN = [
  'id',
  'workspaceId',
  'domain',
  'mailbox',
  'challenge',
  'verifiedAt',
  'verifiedBy',
  'checkedAt',
  'unprovenSince',
  'totalReports',
  'totalTlsReports',
  'totalFailureReports',
  'lastReportAt',
  'riseTold',
  'labels',
  'createdAt',
] as const

export type DomainRow = Row<'dmarcDomain', typeof DOMAIN, { verifiedBy: VerifiedBy | null }>

/** @returns undefined if the workspace has the domain already */
export async function insertDomain(
  db: Db,
  domain: Pick<DomainRow, 'workspaceId' | 'domain' | 'mailbox' | 'challenge'>,
): Promise<DomainRow | undefined> {
  const insert = db.insertInto('dmarcDomain').values(domain)
  const row = await insert
    .onConflict((conflict) => conflict.columns(['workspaceId', 'domain']).doNothing())
    .returning(DOMAIN)
    .executeTakeFirst()
  return row as DomainRow | undefined
}

/** Inserts domains in one statement. @returns those that the workspace did not have */
export async function insertDomains(
  db: Db,
  domains: Pick<DomainRow, 'workspaceId' | 'domain' | 'mailbox' | 'challenge'>[],
): Promise<{ id: string; domain: string }[]> {
  if (domains.length === 0) return []
  return db
    .insertInto('dmarcDomain')
    .values(domains)
    .onConflict((conflict) => conflict.columns(['workspaceId', 'domain']).doNothing())
    .returning(['id', 'domain'])
    .execute()
}

/**
 * Counts a workspace's domains and locks the workspace until the transaction ends, so that the count
 * stays true.
 */
export async function countDomains(db: Db, workspaceId: string): Promise<number> {
  return lockAndCountRows(db, 'dmarcDomain', workspaceId)
}

/** Oldest first: all of them, or up to a limit. */
export async function listDomains(
  db: Db,
  workspaceId: string,
  limit?: number,
): Promise<DomainRow[]> {
  const rows = db.selectFrom('dmarcDomain').select(DOMAIN).where('workspaceId', '=', workspaceId)
  const listed = limit === undefined ? rows : rows.limit(limit)
  return (await listed.orderBy('id').execute()) as DomainRow[]
}

/** The domains of a workspace without their counts and states. */
export async function listDomainNames(
  db: Db,
  workspaceId: string,
): Promise<Pick<DomainRow, 'id' | 'domain'>[]> {
  const rows = db.selectFrom('dmarcDomain').select(['id', 'domain'])
  return rows.where('workspaceId', '=', workspaceId).execute()
}

export type UnverifiedDomain = Pick<DomainRow, 'id' | 'domain'>

/** The domains of a workspace that are not verified, oldest first. */
export async function listUnverified(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<UnverifiedDomain>> {
  const { rows } = await sql<UnverifiedDomain & { total: number }>`
    select id, domain, count(*) over ()::int as total from dmarc_domain
    where workspace_id = ${workspaceId} and verified_at is null order by id limit ${limit}`.execute(
    db,
  )
  return boundedOf(rows)
}

export async function findDomain(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<DomainRow | undefined> {
  const rows = db
    .selectFrom('dmarcDomain')
    .select(DOMAIN)
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
  return (await rows.executeTakeFirst()) as DomainRow | undefined
}

export async function findDomainByName(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<DomainRow | undefined> {
  const rows = db
    .selectFrom('dmarcDomain')
    .select(DOMAIN)
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
  return (await rows.executeTakeFirst()) as DomainRow | undefined
}

/** The domain of a report address, unless its workspace is deleted. */
export async function findDomainByMailbox(db: Db, mailbox: string): Promise<DomainRow | undefined> {
  const rows = db
    .selectFrom('dmarcDomain')
    .select(DOMAIN)
    .where('mailbox', '=', mailbox)
    .where((eb) => eb.not(isInDeletedWorkspace('dmarcDomain.workspaceId')))
  return (await rows.executeTakeFirst()) as DomainRow | undefined
}

export async function updateLabels(
  db: Db,
  workspaceId: string,
  id: string,
  labels: string[],
): Promise<DomainRow | undefined> {
  const row = await db
    .updateTable('dmarcDomain')
    .set({ labels })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning(DOMAIN)
    .executeTakeFirst()
  return row as DomainRow | undefined
}

/** Deletes a domain with its reports and statistics. */
export async function deleteDomain(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'dmarcDomain', { workspaceId, id })
}

/** Records that the proof was found. An earlier verification date is kept. */
export async function markProven(
  db: Db,
  id: string,
  by: VerifiedBy,
): Promise<DomainRow | undefined> {
  const row = await db
    .updateTable('dmarcDomain')
    .set({
      verifiedAt: sql`coalesce(verified_at, now())`,
      verifiedBy: by,
      checkedAt: sql`now()`,
      unprovenSince: null,
    })
    .where('id', '=', id)
    .returning(DOMAIN)
    .executeTakeFirst()
  return row as DomainRow | undefined
}

/** Records that the proof is missing. The domain stays verified for `graceDays`. */
export async function markUnproven(
  db: Db,
  id: string,
  graceDays: number,
): Promise<DomainRow | undefined> {
  const isOver = sql`unproven_since < now() - make_interval(days => ${graceDays})`
  const row = await db
    .updateTable('dmarcDomain')
    .set({
      verifiedAt: sql`case when ${isOver} then null else verified_at end`,
      verifiedBy: sql`case when ${isOver} then null else verified_by end`,
      checkedAt: sql`now()`,
      unprovenSince: sql`coalesce(unproven_since, now())`,
    })
    .where('id', '=', id)
    .returning(DOMAIN)
    .executeTakeFirst()
  return row as DomainRow | undefined
}

/**
 * Domains whose proof was last checked before then, without those that have been unverified for 30
 * days.
 */
export async function listUnchecked(db: Db, before: Date, limit: number): Promise<DomainRow[]> {
  const rows = db
    .selectFrom('dmarcDomain')
    .select(DOMAIN)
    .where((eb) => eb.or([eb('checkedAt', 'is', null), eb('checkedAt', '<', before)]))
    .where((eb) =>
      eb.or([
        eb('verifiedAt', 'is not', null),
        eb('createdAt', '>', sql<Date>`now() - interval '30 days'`),
      ]),
    )
    .where((eb) => eb.not(isInDeletedWorkspace('dmarcDomain.workspaceId')))
  return (await rows.orderBy('id').limit(limit).execute()) as DomainRow[]
}

/** Records a check without an answer; the next one follows a day later as usual. */
export async function markChecked(db: Db, id: string): Promise<void> {
  await updateRows(db, 'dmarcDomain', { id }, { checkedAt: sql`now()` })
}

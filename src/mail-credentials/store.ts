import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import { REFRESH_MARGIN } from './limits.ts'
import type { ProviderId } from './providers.ts'

/** A permission to sign in to a mailbox. */
export type CredentialRow = {
  id: string
  workspaceId: string
  provider: ProviderId
  account: string
  subject: string | null
  sealed: string
  /** Why the person must sign in again; null while the permission is valid. */
  problem: string | null
  keepUntil: Date
  createdAt: Date
  /** Whether the access token is valid, and whether it is for a while. */
  isValid: boolean
  isFresh: boolean
}

const COLUMNS = [
  'id',
  'workspaceId',
  'provider',
  'account',
  'subject',
  'sealed',
  'problem',
  'keepUntil',
  'createdAt',
  sql<boolean>`access_expires_at > now()`.as('isValid'),
  sql<boolean>`access_expires_at > now() + make_interval(secs =>
    least(${REFRESH_MARGIN.seconds}, lifetime_seconds * ${REFRESH_MARGIN.share}::float8))`.as(
    'isFresh',
  ),
] as const

const inDays = (days: number): RawBuilder<Date> => sql<Date>`now() + make_interval(days => ${days})`

export async function listCredentials(db: Db, workspaceId: string): Promise<CredentialRow[]> {
  const rows = await db
    .selectFrom('mailCredential')
    .select(COLUMNS)
    .where('workspaceId', '=', workspaceId)
    .orderBy('id')
    .execute()
  return rows as CredentialRow[]
}

export async function findCredential(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<CredentialRow | undefined> {
  const row = await db
    .selectFrom('mailCredential')
    .select(COLUMNS)
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row as CredentialRow | undefined
}

/** Reads a credential and locks it until the transaction ends, against all other instances. */
export async function lockCredential(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<CredentialRow | undefined> {
  const row = await db
    .selectFrom('mailCredential')
    .select(COLUMNS)
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row as CredentialRow | undefined
}

/** The credential of the same identity at a provider. */
export async function findOfIdentity(
  db: Db,
  workspaceId: string,
  provider: ProviderId,
  subject: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('mailCredential')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.id
}

export async function countCredentials(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('mailCredential')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return count
}

type NewCredential = Pick<
  CredentialRow,
  'id' | 'workspaceId' | 'provider' | 'account' | 'subject' | 'sealed'
> & { lifetimeSeconds: number; keepDays: number; createdBy: string }

export async function insertCredential(
  db: Db,
  { keepDays, lifetimeSeconds, ...row }: NewCredential,
): Promise<void> {
  await db
    .insertInto('mailCredential')
    .values({
      ...row,
      lifetimeSeconds,
      accessExpiresAt: expiryOf(lifetimeSeconds),
      keepUntil: inDays(keepDays),
    })
    .execute()
}

const expiryOf = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`

/** Stores new tokens, which end a problem. */
export async function saveTokens(
  db: Db,
  id: string,
  {
    sealed,
    lifetimeSeconds,
    keepDays,
  }: Pick<NewCredential, 'sealed' | 'lifetimeSeconds' | 'keepDays'>,
): Promise<void> {
  await db
    .updateTable('mailCredential')
    .set({
      sealed,
      lifetimeSeconds,
      accessExpiresAt: expiryOf(lifetimeSeconds),
      problem: null,
      keepUntil: sql<Date>`greatest(keep_until, ${inDays(keepDays)})`,
    })
    .where('id', '=', id)
    .execute()
}

export async function markProblem(db: Db, id: string, problem: string): Promise<void> {
  await db.updateTable('mailCredential').set({ problem }).where('id', '=', id).execute()
}

/** Keeps credentials for at least so many days from now. */
export async function extendCredentials(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
  days: number,
): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('mailCredential')
    .set({ keepUntil: sql<Date>`greatest(keep_until, ${inDays(days)})` })
    .where('workspaceId', '=', workspaceId)
    .where('id', 'in', ids)
    .execute()
}

/** Keeps a credential for exactly so many days from now. */
export async function keepCredential(
  db: Db,
  workspaceId: string,
  id: string,
  days: number,
): Promise<void> {
  await db
    .updateTable('mailCredential')
    .set({ keepUntil: inDays(days) })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

/**
 * Whether one of these credentials needs a new sign-in. Locks them until the transaction ends, so
 * that none is renewed meanwhile.
 */
export async function lockProblem(
  db: Transaction<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<boolean> {
  const rows = await db
    .selectFrom('mailCredential')
    .select('problem')
    .where('workspaceId', '=', workspaceId)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.some(({ problem }) => problem !== null)
}

/** @returns whether there was one */
export async function deleteCredential(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('mailCredential')
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** @returns how many */
export async function deleteExpiredCredentials(db: Db): Promise<number> {
  const rows = await db
    .deleteFrom('mailCredential')
    .where(sql<boolean>`keep_until <= now()`)
    .returning('id')
    .execute()
  return rows.length
}

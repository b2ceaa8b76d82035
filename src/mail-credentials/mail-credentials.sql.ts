import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Db } from '../store/database.ts'
import { isInDeletedWorkspace } from '../store/deleted-workspaces.ts'
import {
  countRows,
  deleteRows,
  findRow,
  listRows,
  lockRow,
  type Row,
  updateRows,
} from '../store/row.ts'
import type { DB } from '../store/tables.ts'
import { KEEP_DAYS, REFRESH_MARGIN } from './limits.ts'
import type { ProviderId, Purpose } from './providers.ts'

const COLUMNS = [
  'id',
  'workspaceId',
  'provider',
  /** What its tokens are for. */
  'purpose',
  /** A person’s permission for one mailbox, or a sign-in of an administrator. */
  'kind',
  'account',
  /** Of an administrator’s sign-in. */
  'clientId',
  /** With which an application authenticates itself, PEM. */
  'certificate',
  /** The mailbox that was rejected last with an administrator’s sign-in. */
  'problemUser',
  'subject',
  /** Of the owner of a mailbox, for its migration alone. */
  'isOwners',
  /** Kept while a report mailbox uses it. */
  'isHeld',
  'sealed',
  /** Why the person must sign in again; null while the permission is valid. */
  'problem',
  'keepUntil',
  'createdAt',
  // Whether the access token is valid, and whether it is for a while.
  sql<boolean>`access_expires_at > now()`.as('isValid'),
  sql<boolean>`access_expires_at > now() + make_interval(secs =>
    least(${REFRESH_MARGIN.seconds}, lifetime_seconds * ${REFRESH_MARGIN.share}::float8))`.as(
    'isFresh',
  ),
] as const

/** A permission to sign in to a mailbox. */
export type CredentialRow = Row<
  'mailCredential',
  typeof COLUMNS,
  { provider: ProviderId; purpose: Purpose; kind: 'person' | 'service_account' | 'app' }
>

const inDays = (days: number): RawBuilder<Date> => sql<Date>`now() + make_interval(days => ${days})`

/** The sign-ins to mailboxes that members of a workspace can use, without those of their owners. */
export async function listCredentials(db: Db, workspaceId: string): Promise<CredentialRow[]> {
  return listRows(
    db,
    'mailCredential',
    COLUMNS,
    { workspaceId, isOwners: false, purpose: 'mailbox' },
    'id',
  )
}

export async function findCredential(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<CredentialRow | undefined> {
  return findRow(db, 'mailCredential', COLUMNS, { workspaceId, id })
}

/** Reads a credential and locks it until the transaction ends, against all other instances. */
export async function lockCredential(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<CredentialRow | undefined> {
  return lockRow(db, 'mailCredential', COLUMNS, { workspaceId, id })
}

/** The credential of the same identity at a provider. */
export async function findOfIdentity(
  db: Db,
  {
    workspaceId,
    provider,
    purpose,
    subject,
  }: Pick<CredentialRow, 'workspaceId' | 'provider' | 'purpose'> & { subject: string },
): Promise<string | undefined> {
  const row = await findRow(db, 'mailCredential', ['id'], {
    workspaceId,
    provider,
    purpose,
    subject,
    isOwners: false,
  })
  return row?.id
}

export async function countCredentials(db: Db, workspaceId: string): Promise<number> {
  return countRows(db, 'mailCredential', { workspaceId, isOwners: false })
}

type NewCredential = Pick<
  CredentialRow,
  'id' | 'workspaceId' | 'provider' | 'account' | 'subject' | 'sealed'
> &
  Partial<Pick<CredentialRow, 'purpose' | 'kind' | 'clientId' | 'certificate' | 'isOwners'>> & {
    /** Of a person’s access token. */
    lifetimeSeconds?: number
    keepDays: number
    createdBy: string | null
  }

export async function insertCredential(
  db: Db,
  { keepDays, lifetimeSeconds, ...row }: NewCredential,
): Promise<void> {
  await db
    .insertInto('mailCredential')
    .values({
      ...row,
      ...(lifetimeSeconds !== undefined && {
        lifetimeSeconds,
        accessExpiresAt: expiryOf(lifetimeSeconds),
      }),
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
  }: { sealed: string; lifetimeSeconds: number; keepDays: number },
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
  await updateRows(db, 'mailCredential', { id }, { problem })
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

/**
 * Ends the use of a credential. One of an administrator is kept for further mailboxes.
 * @param days for which it is kept; 0 deletes it
 */
export async function releaseCredential(
  db: Db,
  workspaceId: string,
  id: string,
  days: number,
): Promise<void> {
  if (days === 0)
    await deleteRows(db, 'mailCredential', { workspaceId, id, kind: 'person', isHeld: false })
  await db
    .updateTable('mailCredential')
    .set({
      keepUntil: sql<Date>`now() + make_interval(days =>
        case kind when 'person' then ${days}::int else ${KEEP_DAYS.administrator}::int end)`,
    })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

/**
 * The kinds of those of these credentials that need a new sign-in. Locks all until the transaction
 * ends, so that none is renewed meanwhile.
 */
export async function lockRejected(
  db: Transaction<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<CredentialRow['kind'][]> {
  const rows = await db
    .selectFrom('mailCredential')
    .select(['kind', 'problem'])
    .where('workspaceId', '=', workspaceId)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  const rejected = rows.filter(({ problem }) => problem !== null)
  return rejected.map(({ kind }) => kind as CredentialRow['kind'])
}

/** @returns whether there was one */
export async function deleteCredential(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'mailCredential', { workspaceId, id })
}

/** Deletes a person’s permission, and returns its latest tokens. Waits while it is refreshed. */
export async function takeCredential(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<Pick<CredentialRow, 'provider' | 'purpose' | 'sealed'> | undefined> {
  const row = await db
    .deleteFrom('mailCredential')
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .where('kind', '=', 'person')
    .returning(['provider', 'purpose', 'sealed'])
    .executeTakeFirst()
  return row as Pick<CredentialRow, 'provider' | 'purpose' | 'sealed'> | undefined
}

/**
 * Credentials whose time is over and that no report mailbox uses. Those of deleted workspaces are
 * kept, so that a restore brings back what uses them.
 */
export async function listExpiredCredentials(
  db: Db,
): Promise<Pick<CredentialRow, 'id' | 'workspaceId'>[]> {
  return db
    .selectFrom('mailCredential')
    .select(['id', 'workspaceId'])
    .where('isHeld', '=', false)
    .where(sql<boolean>`keep_until <= now()`)
    .where((eb) => eb.not(isInDeletedWorkspace('mailCredential.workspaceId')))
    .limit(1_000)
    .execute()
}

/** Stores the secret of an administrator’s sign-in, which the provider has accepted. */
export async function saveAdministrator(
  db: Db,
  id: string,
  columns: Pick<CredentialRow, 'account' | 'clientId' | 'certificate' | 'sealed'>,
): Promise<void> {
  const accepted = { ...columns, problem: null, problemUser: null }
  await updateRows(db, 'mailCredential', { id }, accepted)
}

/**
 * Records why an administrator’s sign-in was rejected.
 * @returns false when it was recorded before, or the sign-in was corrected meanwhile
 */
export async function markAdministratorProblem(
  db: Db,
  { id, sealed }: Pick<CredentialRow, 'id' | 'sealed'>,
  problem: string,
  problemUser: string,
): Promise<boolean> {
  return updateRows(db, 'mailCredential', { id, sealed, problem: null }, { problem, problemUser })
}

/** The sign-ins of administrators that were rejected, to check them again. */
export async function listRejectedAdministrators(
  db: Db,
): Promise<Pick<CredentialRow, 'id' | 'workspaceId'>[]> {
  return db
    .selectFrom('mailCredential')
    .select(['id', 'workspaceId'])
    .where('kind', '<>', 'person')
    .where('problem', 'is not', null)
    .where((eb) => eb.not(isInDeletedWorkspace('mailCredential.workspaceId')))
    .limit(100)
    .execute()
}

/** Keeps a credential for as long as something uses it that has no end, or no longer. */
export async function holdCredential(
  db: Db,
  workspaceId: string,
  id: string,
  isHeld: boolean,
): Promise<void> {
  await updateRows(db, 'mailCredential', { workspaceId, id }, { isHeld })
}

/** Whether a report mailbox, a seed of a canary or statistics of a provider need a credential. */
export async function isCredentialSignedInWith(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from dmarc_mailbox where workspace_id = ${workspaceId} and credential_id = ${id}
    union all
    select from canary_seed where workspace_id = ${workspaceId} and credential_id = ${id}
    union all
    select from postmaster_access where workspace_id = ${workspaceId} and credential_id = ${id}
    union all
    select from snds_sign_in where workspace_id = ${workspaceId} and credential_id = ${id}
    limit 1`.execute(db)
  return rows.length > 0
}

import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { findRow, type Row, updateRows } from '../../store/row.ts'
import { CONSENT_SECONDS } from '../limits.ts'
import type { ProviderId, Purpose } from '../providers.ts'

/** Who has begun a sign-in at a provider, and in which session. */
export type Starter = { workspaceId: string; accountId: string; sessionId: string }

/** The owner of a mailbox who has begun one, without an account: by a link, in this browser. */
type OwnerStarter = { workspaceId: string; ownerLinkId: string; browserHash: Buffer }

const COLUMNS = [
  'id',
  'workspaceId',
  'accountId',
  'ownerLinkId',
  'provider',
  'purpose',
  /** The user name that the person entered. */
  'username',
  /** The credential to renew, and later the one that was created. */
  'credentialId',
  'sealed',
  'problem',
  sql<boolean>`answered_at is not null`.as('isAnswered'),
  sql<boolean>`expires_at <= now()`.as('isExpired'),
] as const

export type ConsentRow = Row<
  'mailConsent',
  typeof COLUMNS,
  { provider: ProviderId; purpose: Purpose }
>

type NewConsent = (Starter | OwnerStarter) &
  Pick<ConsentRow, 'id' | 'provider' | 'username' | 'credentialId' | 'sealed'> &
  Partial<Pick<ConsentRow, 'purpose'>> & { hash: Buffer }

/** @returns when it expires */
export async function insertConsent(db: Db, row: NewConsent): Promise<Date> {
  const { expiresAt } = await db
    .insertInto('mailConsent')
    .values({ ...row, expiresAt: sql<Date>`now() + make_interval(secs => ${CONSENT_SECONDS})` })
    .returning('expiresAt')
    .executeTakeFirstOrThrow()
  return expiresAt
}

/** Counts the sign-ins that wait for an answer. */
export async function countOpenConsents(
  db: Db,
  { workspaceId, accountId }: Starter,
): Promise<number> {
  const { count } = await db
    .selectFrom('mailConsent')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .where('accountId', '=', accountId)
    .where('answeredAt', 'is', null)
    .where(sql<boolean>`expires_at > now()`)
    .executeTakeFirstOrThrow()
  return count
}

export async function findConsent(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ConsentRow | undefined> {
  return findRow(db, 'mailConsent', COLUMNS, { workspaceId, id })
}

/**
 * Claims the sign-in with a state for its answer, once over all instances.
 * @param hash of the state
 * @returns undefined when it has expired, was answered, is for another purpose, belongs to another
 *   session or a deleted workspace
 */
export async function claimConsent(
  db: Db,
  hash: Buffer,
  { accountId, sessionId }: Pick<Starter, 'accountId' | 'sessionId'>,
  purposes: readonly Purpose[],
): Promise<ConsentRow | undefined> {
  const row = await db
    .updateTable('mailConsent')
    .set({ answeredAt: sql<Date>`now()` })
    .where('hash', '=', hash)
    .where('accountId', '=', accountId)
    .where('sessionId', '=', sessionId)
    .where('purpose', 'in', purposes)
    .where('answeredAt', 'is', null)
    .where(sql<boolean>`expires_at > now()`)
    .where((eb) => eb.not(isInDeletedWorkspace('mailConsent.workspaceId')))
    .returning(COLUMNS)
    .executeTakeFirst()
  return row as ConsentRow | undefined
}

/** Whether the sign-in with a state was begun by the owner of a mailbox. */
export async function isOfOwner(db: Db, hash: Buffer): Promise<boolean> {
  const row = await findRow(db, 'mailConsent', ['ownerLinkId'], { hash })
  return row !== undefined && row.ownerLinkId !== null
}

/**
 * Claims the sign-in of an owner for its answer, once over all instances.
 * @returns undefined when it has expired, was answered, was begun in another browser or for a deleted
 *   workspace
 */
export async function claimOwnersConsent(
  db: Db,
  hash: Buffer,
  browserHash: Buffer,
): Promise<(ConsentRow & { ownerLinkId: string }) | undefined> {
  const row = await db
    .updateTable('mailConsent')
    .set({ answeredAt: sql<Date>`now()` })
    .where('hash', '=', hash)
    .where('browserHash', '=', browserHash)
    .where('answeredAt', 'is', null)
    .where(sql<boolean>`expires_at > now()`)
    .where((eb) => eb.not(isInDeletedWorkspace('mailConsent.workspaceId')))
    .returning(COLUMNS)
    .executeTakeFirst()
  return row as (ConsentRow & { ownerLinkId: string }) | undefined
}

/** Counts the sign-ins by a link that wait for an answer. */
export async function countOwnersConsents(db: Db, ownerLinkId: string): Promise<number> {
  const { count } = await db
    .selectFrom('mailConsent')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('ownerLinkId', '=', ownerLinkId)
    .where('answeredAt', 'is', null)
    .where(sql<boolean>`expires_at > now()`)
    .executeTakeFirstOrThrow()
  return count
}

/** Records the credential that an answer created or renewed. */
export async function markGranted(db: Db, id: string, credentialId: string): Promise<void> {
  await updateRows(db, 'mailConsent', { id }, { credentialId })
}

export async function markFailed(db: Db, id: string, problem: string): Promise<void> {
  await updateRows(db, 'mailConsent', { id }, { problem })
}

import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { ProviderId } from '../providers.ts'
import { deleteRows, findRow, type Row, updateRows } from '../../store/row.ts'

const COLUMNS = [
  'id',
  'provider',
  'clientId',
  /** Its secret, encrypted; null for a client with a certificate, or without a secret. */
  'sealed',
  /** In place of a secret, PEM. */
  'certificate',
  /** The private key of the certificate, encrypted. */
  'sealedKey',
  'tenant',
] as const

/** A client of this service that an administrator has entered. */
export type ClientRow = Row<'mailClient', typeof COLUMNS, { provider: ProviderId }>

export async function listClients(db: Db): Promise<ClientRow[]> {
  return (await db.selectFrom('mailClient').select(COLUMNS).execute()) as ClientRow[]
}

export async function findClientOf(db: Db, provider: ProviderId): Promise<ClientRow | undefined> {
  return findRow(db, 'mailClient', COLUMNS, { provider })
}

export async function saveClient(db: Db, row: ClientRow, updatedBy: string): Promise<void> {
  const { id: _, ...changed } = { ...row, updatedBy, updatedAt: sql<Date>`now()` }
  await db
    .insertInto('mailClient')
    .values({ ...changed, id: row.id })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
    .execute()
}

/** @returns whether there was one */
export async function deleteClient(db: Db, provider: ProviderId): Promise<boolean> {
  return deleteRows(db, 'mailClient', { provider })
}

/** Why a provider rejects the client of this service. */
export type ClientProblem = {
  provider: ProviderId
  fingerprint: Buffer
  problem: string
  since: Date
  /** Whether it was checked again lately. */
  isChecked: boolean
}

const CHECK_MINUTES = 10

const PROBLEM = [
  'provider',
  'fingerprint',
  'problem',
  'since',
  sql<boolean>`checked_at > now() - make_interval(mins => ${CHECK_MINUTES}::int)`.as('isChecked'),
] as const

export async function listClientProblems(db: Db): Promise<ClientProblem[]> {
  return (await db.selectFrom('mailClientProblem').select(PROBLEM).execute()) as ClientProblem[]
}

export async function findClientProblem(
  db: Db,
  provider: ProviderId,
): Promise<ClientProblem | undefined> {
  return findRow(db, 'mailClientProblem', PROBLEM, { provider })
}

/** Records that a provider rejects a client. @returns since when */
export async function saveClientProblem(
  db: Db,
  row: Pick<ClientProblem, 'provider' | 'fingerprint' | 'problem'>,
): Promise<Date> {
  const { since } = await db
    .insertInto('mailClientProblem')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('provider').doUpdateSet({
        fingerprint: row.fingerprint,
        problem: row.problem,
        checkedAt: sql<Date>`now()`,
        since: sql<Date>`case when mail_client_problem.fingerprint = excluded.fingerprint
          then mail_client_problem.since else now() end`,
      }),
    )
    .returning('since')
    .executeTakeFirstOrThrow()
  return since
}

export async function markClientChecked(db: Db, provider: ProviderId): Promise<void> {
  await updateRows(db, 'mailClientProblem', { provider }, { checkedAt: sql<Date>`now()` })
}

/** Ends a problem. Waits for those that pause because of it. */
export async function deleteClientProblem(db: Db, provider: ProviderId): Promise<void> {
  await deleteRows(db, 'mailClientProblem', { provider })
}

/**
 * Whether a provider of these credentials rejects the client. Holds that until the transaction ends,
 * so that it is not corrected meanwhile.
 */
export async function lockClientProblem(db: Db, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return false
  const { rows } = await sql`select from mail_client_problem p where p.provider in (
      select provider from mail_credential where id = any(${ids}::uuid[]) and kind = 'person')
    for share`.execute(db)
  return rows.length > 0
}

/** A permission of a person at a provider. */
export type Permission = { id: string; workspaceId: string; isInDeletedWorkspace: boolean }

/** The permissions of persons at a provider, which the client of this service uses. */
export async function listPermissions(db: Db, provider: ProviderId): Promise<Permission[]> {
  return db
    .selectFrom('mailCredential')
    .select(['id', 'workspaceId'])
    .select(isInDeletedWorkspace('mailCredential.workspaceId').as('isInDeletedWorkspace'))
    .where('provider', '=', provider)
    .where('kind', '=', 'person')
    .where('purpose', '<>', 'snds')
    .where('problem', 'is', null)
    .orderBy('id')
    .execute()
}

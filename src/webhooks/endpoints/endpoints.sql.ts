import { sql } from 'kysely'
import type { SignatureScheme } from '../../protocols/webhook-signature.ts'
import type { Db } from '../../store/database.ts'
import { findRow, insertRow, listRows, lockAndCountRows, type Row } from '../../store/row.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { responsibleFor } from '../../store/responsible.ts'
import type { Header } from '../headers.ts'
import { HELD_NAME_DAYS } from '../limits.ts'
import { isName, isToken } from './endpoint-name.ts'
import { ALERT_SETTINGS, type AlertSettings } from '../alerts/endpoint-alerts.sql.ts'

const PLAIN = [
  'id',
  'token',
  /** The secret part of the address by which it receives mail; null for none. */
  'emailToken',
  /** A chosen name that the URL may have in place of the token; null for none. */
  'name',
  'label',
  'labels',
  'responseStatus',
  'responseBody',
  'responseType',
  'responseHeaders',
  'template',
  'cors',
  'timeout',
  /** Where the key of repeated requests is found; null for the usual headers. */
  'repeatKey',
  'requestCount',
  'signature',
  'createdAt',
] as const

export type EndpointRow = Row<
  'webhookEndpoint',
  typeof PLAIN,
  {
    /** Further headers of the response; null for none. */
    responseHeaders: Header[] | null
    signature: SignatureScheme | null
  }
> & { alerts: AlertSettings }

/** An endpoint with its encrypted secrets, for verifying and signing only. */
export type EncryptedEndpoint = EndpointRow & EndpointSecrets

type EndpointSecrets = {
  workspaceId: string
  signatureSecret: string | null
  responseSecret: string | null
}

export type EndpointChange = Partial<
  Omit<EncryptedEndpoint, 'id' | 'workspaceId' | 'token' | 'alerts' | 'createdAt'>
>

const ENDPOINT = [...PLAIN, ALERT_SETTINGS] as const
const SECRETS = ['workspaceId', 'signatureSecret', 'responseSecret'] as const

export async function insertEndpoint(
  db: Db,
  endpoint: EndpointChange & { workspaceId: string; token: string },
): Promise<EndpointRow> {
  return insertRow(db, 'webhookEndpoint', written(endpoint), ENDPOINT)
}

/** Lists the endpoints of a workspace, oldest first. */
export async function listEndpoints(db: Db, workspaceId: string): Promise<EndpointRow[]> {
  return listRows(db, 'webhookEndpoint', ENDPOINT, { workspaceId }, 'id')
}

/**
 * Counts the endpoints of a workspace, and locks the workspace so that none is added until the
 * transaction ends.
 */
export async function countEndpoints(db: Db, workspaceId: string): Promise<number> {
  return lockAndCountRows(db, 'webhookEndpoint', workspaceId)
}

export async function findEndpoint(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<EncryptedEndpoint | undefined> {
  return findRow(db, 'webhookEndpoint', [...ENDPOINT, ...SECRETS], { id, workspaceId })
}

/** What a capture needs of an endpoint, with the account that answers for its workspace. */
type CapturingEndpoint = Omit<EncryptedEndpoint, 'alerts'> & { responsibleId: string }

/**
 * Finds what a capture needs of an endpoint, unless its workspace is deleted.
 * @param key the token, or the chosen name
 */
export async function findEndpointByKey(
  db: Db,
  key: string,
): Promise<CapturingEndpoint | undefined> {
  if (!isToken(key) && !isName(key)) return undefined
  const row = await db
    .selectFrom('webhookEndpoint')
    .select([...PLAIN, ...SECRETS, responsibleFor('workspaceId').as('responsibleId')])
    .where(isToken(key) ? 'token' : 'name', '=', key)
    .where((eb) => eb.not(isInDeletedWorkspace('webhookEndpoint.workspaceId')))
    .executeTakeFirst()
  return row as CapturingEndpoint | undefined
}

/** The token of the endpoint that has this secret part of an address, unless its workspace is deleted. */
export async function findTokenByEmail(db: Db, emailToken: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('webhookEndpoint')
    .select('token')
    .where('emailToken', '=', emailToken)
    .where((eb) => eb.not(isInDeletedWorkspace('webhookEndpoint.workspaceId')))
    .executeTakeFirst()
  return row?.token
}

export async function updateEndpoint(
  db: Db,
  workspaceId: string,
  id: string,
  change: EndpointChange,
): Promise<EndpointRow | undefined> {
  const row = await db
    .updateTable('webhookEndpoint')
    // A statement needs something to set; setting the ID to itself changes nothing.
    .set({ id, ...written(change) })
    .where('id', '=', id)
    .where('workspaceId', '=', workspaceId)
    .returning(ENDPOINT)
    .executeTakeFirst()
  return row as EndpointRow | undefined
}

/**
 * Stores the encrypted response secret if there is none.
 * @returns the stored secret, which another instance may have set
 */
export async function insertResponseSecret(db: Db, id: string, encrypted: string): Promise<string> {
  await db
    .updateTable('webhookEndpoint')
    .set({ responseSecret: encrypted })
    .where('id', '=', id)
    .where('responseSecret', 'is', null)
    .execute()
  const row = await findRow(db, 'webhookEndpoint', ['responseSecret'], { id })
  return row?.responseSecret ?? encrypted
}

function written<T extends EndpointChange>({ signature, responseHeaders, ...rest }: T) {
  return {
    ...rest,
    ...(responseHeaders !== undefined && {
      responseHeaders: responseHeaders?.length ? JSON.stringify(responseHeaders) : null,
    }),
    ...(signature !== undefined && { signature: signature && JSON.stringify(signature) }),
  }
}

/** Deletes an endpoint with its requests. @returns its token */
export async function deleteEndpoint(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .deleteFrom('webhookEndpoint')
    .where('id', '=', id)
    .where('workspaceId', '=', workspaceId)
    .returning('token')
    .executeTakeFirst()
  return row?.token
}

/** The endpoint of a workspace with a chosen name. */
export async function findIdByName(
  db: Db,
  workspaceId: string,
  name: string,
): Promise<string | undefined> {
  const row = await findRow(db, 'webhookEndpoint', ['id'], { name, workspaceId })
  return row?.id
}

/** Whether a name is free for a workspace: no other one has it, or had it a short time ago. */
export async function isNameFree(db: Db, workspaceId: string, name: string): Promise<boolean> {
  const { rows } = await sql<{ isFree: boolean }>`
    select not exists (select from webhook_endpoint where name = ${name})
      and not exists (select from webhook_held_name
        where name = ${name} and workspace_id <> ${workspaceId} and held_until > now()) as is_free`.execute(
    db,
  )
  return rows[0]?.isFree === true
}

/** Keeps others from a name that an endpoint no longer has. */
export async function holdName(db: Db, workspaceId: string, name: string): Promise<void> {
  await sql`
    insert into webhook_held_name (name, workspace_id, held_until)
    values (${name}, ${workspaceId}, now() + make_interval(days => ${HELD_NAME_DAYS}))
    on conflict (name) do update set workspace_id = excluded.workspace_id, held_until = excluded.held_until`.execute(
    db,
  )
}

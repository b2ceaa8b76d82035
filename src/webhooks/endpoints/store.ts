import type { SignatureScheme } from '../../protocols/webhook-signature.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { ALERT_SETTINGS, type AlertSettings } from '../alerts/store.ts'

export type EndpointRow = {
  id: string
  token: string
  label: string
  labels: string[]
  responseStatus: number
  responseBody: string
  responseType: string
  template: boolean
  cors: boolean
  timeout: number
  requestCount: number
  signature: SignatureScheme | null
  alerts: AlertSettings
  createdAt: Date
}

/** An endpoint with its encrypted secrets, for verifying and signing only. */
export type EncryptedEndpoint = EndpointRow & EndpointSecrets

export type EndpointSecrets = {
  workspaceId: string
  signatureSecret: string | null
  responseSecret: string | null
}

export type EndpointChange = Partial<
  Omit<EncryptedEndpoint, 'id' | 'workspaceId' | 'token' | 'alerts' | 'createdAt'>
>

const PLAIN = [
  'id',
  'token',
  'label',
  'labels',
  'responseStatus',
  'responseBody',
  'responseType',
  'template',
  'cors',
  'timeout',
  'requestCount',
  'signature',
  'createdAt',
] as const
const ENDPOINT = [...PLAIN, ALERT_SETTINGS] as const
const SECRETS = ['workspaceId', 'signatureSecret', 'responseSecret'] as const

export async function insertEndpoint(
  db: Db,
  endpoint: EndpointChange & { workspaceId: string; token: string },
): Promise<EndpointRow> {
  const row = await db
    .insertInto('webhookEndpoint')
    .values(written(endpoint))
    .returning(ENDPOINT)
    .executeTakeFirstOrThrow()
  return row as EndpointRow
}

/** Lists the endpoints of a workspace, oldest first. */
export async function listEndpoints(db: Db, workspaceId: string): Promise<EndpointRow[]> {
  const rows = await db
    .selectFrom('webhookEndpoint')
    .select(ENDPOINT)
    .where('workspaceId', '=', workspaceId)
    .orderBy('id')
    .execute()
  return rows as EndpointRow[]
}

/**
 * Counts the endpoints of a workspace, and locks the workspace so that none is added until the
 * transaction ends.
 */
export async function countEndpoints(db: Db, workspaceId: string): Promise<number> {
  await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).forUpdate().execute()
  const { count } = await db
    .selectFrom('webhookEndpoint')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return count
}

export async function findEndpoint(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<EncryptedEndpoint | undefined> {
  const row = await db
    .selectFrom('webhookEndpoint')
    .select([...ENDPOINT, ...SECRETS])
    .where('id', '=', id)
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirst()
  return row as EncryptedEndpoint | undefined
}

/** Finds what a capture needs of an endpoint, unless its workspace is deleted. */
export async function findEndpointByToken(
  db: Db,
  token: string,
): Promise<Omit<EncryptedEndpoint, 'alerts'> | undefined> {
  const row = await db
    .selectFrom('webhookEndpoint')
    .select([...PLAIN, ...SECRETS])
    .where('token', '=', token)
    .where((eb) => eb.not(isInDeletedWorkspace('webhookEndpoint.workspaceId')))
    .executeTakeFirst()
  return row as Omit<EncryptedEndpoint, 'alerts'> | undefined
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
  const row = await db
    .selectFrom('webhookEndpoint')
    .select('responseSecret')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.responseSecret ?? encrypted
}

function written<T extends EndpointChange>({ signature, ...rest }: T) {
  return {
    ...rest,
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

import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { requireEndpoint } from '../endpoints/endpoints.ts'
import { DEFAULT_SHARE_DAYS, MAX_SHARES_PER_ENDPOINT } from '../limits.ts'
import { findRequest, isStored } from '../requests/captured-requests.sql.ts'
import { redactRequest, type RedactedRequest } from './redact-request.ts'
import {
  deleteShare,
  findShareByToken,
  insertShare,
  listShares,
  type ShareRow,
} from './request-shares.sql.ts'
import type { GivenShare } from './shapes.ts'

/** Bytes of the random part of a link. */
const TOKEN_BYTES = 18

type EndpointOf = { workspaceId: string; endpointId: string }

/** @throws Fault `not_found`, `conflict` where an endpoint has too many links */
export async function shareRequest(
  db: Kysely<DB>,
  { workspaceId, endpointId }: EndpointOf,
  requestId: string,
  { days = DEFAULT_SHARE_DAYS, body = false }: GivenShare,
): Promise<ShareRow> {
  return db.transaction().execute(async (trx) => {
    await requireEndpoint(trx, workspaceId, endpointId)
    if (!(await isStored(trx, endpointId, requestId)))
      throw new Fault('not_found', 'The captured request was not found, or it has been deleted.')
    if ((await listShares(trx, endpointId)).length >= MAX_SHARES_PER_ENDPOINT)
      throw new Fault(
        'conflict',
        `An endpoint can have up to ${MAX_SHARES_PER_ENDPOINT} links. End one of them.`,
      )
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const share = { workspaceId, endpointId, requestId, token, withBody: body }
    const row = await insertShare(trx, share, days)
    await notifyChange(trx, workspaceId, 'webhooks', endpointId)
    return row
  })
}

/** @throws Fault `not_found` */
export async function listEndpointShares(
  db: Kysely<DB>,
  { workspaceId, endpointId }: EndpointOf,
): Promise<ShareRow[]> {
  await requireEndpoint(db, workspaceId, endpointId)
  return listShares(db, endpointId)
}

/** Ends a link at once. @throws Fault `not_found` */
export async function endShare(
  db: Kysely<DB>,
  { workspaceId, endpointId }: EndpointOf,
  id: string,
): Promise<void> {
  await requireEndpoint(db, workspaceId, endpointId)
  if (!(await deleteShare(db, endpointId, id)))
    throw new Fault('not_found', 'The link was not found, or it has ended.')
  await notifyChange(db, workspaceId, 'webhooks', endpointId)
}

/** The request of a link, as everyone may read it. @throws Fault `not_found` */
export async function readShared(
  db: Kysely<DB>,
  token: string,
): Promise<RedactedRequest & { expiresAt: Date }> {
  const share = await findShareByToken(db, token)
  const row = share && (await findRequest(db, share.endpointId, share.requestId))
  if (!share || !row)
    throw new Fault(
      'not_found',
      'This link has ended, or its request has been deleted. Ask for a new link.',
    )
  return { ...redactRequest(row, share.withBody), expiresAt: share.expiresAt }
}

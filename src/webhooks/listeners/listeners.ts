import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { notify } from '../../store/notifications.ts'
import { newUuid } from '../../store/uuid.ts'
import type { DB } from '../../store/tables.ts'
import { notifyEndpointChange, requireEndpoint } from '../endpoints/endpoints.ts'
import { sendableAnswerHeaders } from '../endpoints/response-headers.ts'
import type { Header } from '../headers.ts'
import { MAX_ANSWER_BYTES } from '../limits.ts'
import { isStored } from '../requests/captured-requests.sql.ts'
import { ANSWERED } from './held-requests.ts'
import {
  acquireListener,
  findListener,
  insertAnswer,
  removeListener,
  renewListener,
} from './listeners.sql.ts'

type Of = { workspaceId: string; endpointId: string }

/**
 * Makes the caller the listener that answers the senders of an endpoint.
 * @returns its id and the token of the endpoint
 * @throws Fault `not_found`, `conflict` where another one answers
 */
export async function addListener(
  db: Kysely<DB>,
  { workspaceId, endpointId }: Of,
  holdSeconds: number,
): Promise<{ id: string; token: string }> {
  return db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, workspaceId, endpointId)
    const id = newUuid()
    if (!(await acquireListener(trx, endpointId, { id, holdSeconds })))
      throw new Fault('conflict', 'Another listener answers the senders of this endpoint.')
    await notifyEndpointChange(trx, workspaceId, endpoint)
    return { id, token: endpoint.token }
  })
}

/** @throws Fault `not_found`, `conflict` where it has lost its lease */
export async function keepListener(
  db: Kysely<DB>,
  { workspaceId, endpointId }: Of,
  id: string,
): Promise<void> {
  await requireEndpoint(db, workspaceId, endpointId)
  if (await renewListener(db, endpointId, id)) return
  throw new Fault('conflict', 'This listener no longer answers: its lease has ended.')
}

/** @returns the token of the endpoint. @throws Fault `not_found` */
export async function endListener(
  db: Kysely<DB>,
  { workspaceId, endpointId }: Of,
  id: string,
): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, workspaceId, endpointId)
    if (!(await removeListener(trx, endpointId, id)))
      throw new Fault('not_found', 'The listener was not found.')
    await notifyEndpointChange(trx, workspaceId, endpoint)
    return endpoint.token
  })
}

export type GivenAnswer = {
  listener: string
  status: number
  headers: Header[]
  bodyBase64: string
}

/**
 * Answers a request, whose sender may still wait.
 * @throws Fault `not_found`, `conflict` for a second answer, or by another listener, `too_large`
 */
export async function answerRequest(
  db: Kysely<DB>,
  { workspaceId, endpointId }: Of,
  requestId: string,
  given: GivenAnswer,
): Promise<void> {
  await requireEndpoint(db, workspaceId, endpointId)
  if (!(await isStored(db, endpointId, requestId)))
    throw new Fault('not_found', 'The captured request was not found, or it has been deleted.')
  if ((await findListener(db, endpointId))?.id !== given.listener)
    throw new Fault('conflict', 'This listener no longer answers: its lease has ended.')
  const body = Buffer.from(given.bodyBase64, 'base64')
  if (body.length > MAX_ANSWER_BYTES)
    throw new Fault('too_large', `An answer can have up to ${MAX_ANSWER_BYTES} bytes.`)
  const headers = sendableAnswerHeaders(given.headers, given.status)
  await db.transaction().execute(async (trx) => {
    const isFirst = await insertAnswer(trx, endpointId, requestId, {
      status: given.status,
      headers,
      body,
    })
    if (!isFirst) throw new Fault('conflict', 'This request has been answered already.')
    await notify(trx, ANSWERED, { requestId })
  })
}

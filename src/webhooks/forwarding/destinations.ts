import type { Kysely } from 'kysely'
import { closeIncident } from '../../alerts/incidents.sql.ts'
import { Fault, type FaultDetail } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { notify } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { notifyEndpointChange, requireEndpoint } from '../endpoints/endpoints.ts'
import type { EncryptedEndpoint } from '../endpoints/endpoints.sql.ts'
import type { Header } from '../headers.ts'
import {
  MAX_DESTINATIONS_PER_ENDPOINT,
  MAX_DESTINATIONS_PER_WORKSPACE,
  MAX_EDITS_PER_ENDPOINT,
} from '../limits.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { findRequest } from '../requests/captured-requests.sql.ts'
import { DESTINATION_CHANGED, notifyDeliveries } from './deliveries-notifier.ts'
import {
  findDelivery,
  insertDelivery,
  cancelAbandoned,
  moveDeliveries,
  retryDelivery,
  type DeliveryRow,
} from './deliveries.sql.ts'
import { failingIncident, queueIncident } from './destination-alerts.ts'
import {
  findWrongSettings,
  newDestinationId,
  newDestinationSecret,
  publicKeyOf,
  rotated,
  seal,
  shownSecret,
  targetOf,
  tryUnseal,
  unseal,
  type DestinationPolicy,
  type SealedSettings,
} from './destination-settings.ts'
import {
  countDestinations,
  deleteDestination,
  findDestination,
  insertDestination,
  listDestinations,
  updateDestination,
  type DestinationValues,
  type ListedDestination,
} from './destinations.sql.ts'
import { requestToSend, parseEdit } from './edit-request.ts'
import { insertEdit, makeRoomForEdit, readEdits } from './edits.sql.ts'
import { orderKeyOf, unsendableReason } from './forwardable.ts'
import { markOf } from './forwarding-marks.ts'
import { UNSENDABLE } from './unsendable.ts'
import type { DestinationSettings, RequestEdit } from './shapes.ts'

/** Whose requests are forwarded: of no account, of administrators, or of all accounts. */
type ForwardingPolicy = 'off' | 'admins' | 'all'

export type DestinationDeps = DestinationPolicy & {
  db: Kysely<DB>
  secretKey: string
  forwarding: ForwardingPolicy
}

/** Who changes destinations of an endpoint. */
export type DestinationOwner = { workspaceId: string; admin: boolean; endpointId: string }

/** A destination with what of it was encrypted; null where this key does not decrypt it. */
export type OpenedDestination = { row: ListedDestination; settings: SealedSettings | null }

type Changed = OpenedDestination & { token: string }

/** @throws Fault `not_found` */
export async function listOpened(
  { db, secretKey }: DestinationDeps,
  { workspaceId, endpointId }: DestinationOwner,
): Promise<OpenedDestination[]> {
  await requireEndpoint(db, workspaceId, endpointId)
  const rows = await listDestinations(db, endpointId)
  return rows.map((row) => ({ row, settings: tryUnseal(row, secretKey) }))
}

/** @throws Fault `not_found` */
export async function findOpened(
  { db, secretKey }: Pick<DestinationDeps, 'db' | 'secretKey'>,
  { workspaceId, endpointId }: Omit<DestinationOwner, 'admin'>,
  id: string,
): Promise<OpenedDestination> {
  await requireEndpoint(db, workspaceId, endpointId)
  const row = await requireDestination(db, endpointId, id)
  return { row, settings: tryUnseal(row, secretKey) }
}

/**
 * @returns also the secret, which is shown this once
 * @throws Fault `not_found`, `invalid_request`, `forbidden`, `conflict` where there are too many
 */
export async function addDestination(
  deps: DestinationDeps,
  owner: DestinationOwner,
  given: DestinationSettings & { url: string },
): Promise<Changed & { secret: string | null }> {
  requireForwarding(deps.forwarding, owner.admin)
  requireValid(findWrongSettings(given, deps))
  const { workspaceId, endpointId } = owner
  return deps.db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, workspaceId, endpointId)
    requireRoom(await countDestinations(trx, workspaceId, endpointId))
    const id = newDestinationId()
    const secret = newDestinationSecret()
    const settings = { url: given.url, headers: given.headers ?? [], secret, previous: null }
    await insertDestination(trx, {
      id,
      endpointId,
      workspaceId,
      target: targetOf(given.url),
      sealed: seal(id, settings, deps.secretKey),
      ...valuesOf(given),
    })
    const changed = await finish(trx, endpoint, id, settings)
    return { ...changed, secret: shownSecret(changed.row.sign, settings) }
  })
}

/**
 * Changes the given settings. One that was turned off stays off until it is resumed.
 * @throws Fault `not_found`, `invalid_request`, `forbidden`
 */
export async function changeDestination(
  deps: DestinationDeps,
  owner: DestinationOwner,
  id: string,
  given: DestinationSettings,
): Promise<Changed> {
  requireForwarding(deps.forwarding, owner.admin)
  requireValid(findWrongSettings(given, deps))
  return changing(deps, owner, id, async (trx, { row, settings }) => {
    // Where this key does not decrypt the settings, all of them are entered again.
    if (settings === null && given.url === undefined)
      throw new Fault(
        'invalid_request',
        'Enter the URL again: this SECRET_KEY does not decrypt it.',
        {
          details: [{ path: 'url', message: 'is required' }],
        },
      )
    const before = settings ?? {
      url: '',
      headers: [],
      secret: newDestinationSecret(),
      previous: null,
    }
    const changed = {
      ...before,
      url: given.url ?? before.url,
      headers: given.headers ?? before.headers,
    }
    await updateDestination(trx, row.id, {
      ...valuesOf(given),
      target: targetOf(changed.url),
      sealed: seal(row.id, changed, deps.secretKey),
    })
    return changed
  })
}

/** @returns the token of the endpoint. @throws Fault `not_found` */
export async function removeDestination(
  { db }: DestinationDeps,
  { workspaceId, endpointId }: DestinationOwner,
  id: string,
): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, workspaceId, endpointId)
    if (!(await deleteDestination(trx, endpointId, id))) throw destinationNotFound()
    await closeIncident(trx, workspaceId, failingIncident(id))
    await closeIncident(trx, workspaceId, queueIncident(id))
    await notifyEndpointChange(trx, workspaceId, endpoint)
    return endpoint.token
  })
}

/** Pauses a destination: what waits is held. @throws Fault `not_found` */
export async function pauseDestination(
  deps: DestinationDeps,
  owner: DestinationOwner,
  id: string,
): Promise<Changed> {
  return changing(deps, owner, id, async (trx, { row }) => {
    if (row.state !== 'active') return
    await updateDestination(trx, id, { state: 'paused' })
    await moveDeliveries(trx, id, ['waiting'], 'held')
  })
}

/**
 * Resumes a destination that is paused or was turned off.
 * @param held what happens to the deliveries that were held
 * @throws Fault `not_found`, `forbidden`
 */
export async function resumeDestination(
  deps: DestinationDeps,
  owner: DestinationOwner,
  id: string,
  held: 'send' | 'drop',
): Promise<Changed> {
  requireForwarding(deps.forwarding, owner.admin)
  return changing(deps, owner, id, async (trx, { row }) => {
    const healthy = { breakerLevel: 0, failingSince: null, alertedHours: 0, dueAt: new Date() }
    await updateDestination(trx, id, { state: 'active', reason: null, ...healthy })
    // What was stored while it was being paused may wait, and is not held.
    const from = row.state === 'active' ? (['held'] as const) : (['held', 'waiting'] as const)
    await moveDeliveries(trx, id, from, held === 'send' ? 'waiting' : 'cancelled')
    if (held === 'drop') await cancelAbandoned(trx, id)
    await closeIncident(trx, owner.workspaceId, failingIncident(id))
    await notifyDeliveries(trx, id)
  })
}

/** Replaces the secret. @throws Fault `not_found`, `forbidden` */
export async function rotateDestinationSecret(
  deps: DestinationDeps,
  owner: DestinationOwner,
  id: string,
): Promise<Changed & { secret: string | null }> {
  requireForwarding(deps.forwarding, owner.admin)
  const changed = await changing(deps, owner, id, async (trx, { row }) => {
    const settings = rotated(unseal(row, deps.secretKey), Date.now())
    await updateDestination(trx, id, { sealed: seal(id, settings, deps.secretKey) })
    return settings
  })
  const { row, settings } = changed
  return { ...changed, secret: settings && shownSecret(row.sign, settings) }
}

/**
 * Makes a delivery due now: at least one more attempt follows, whatever was sent before.
 * @throws Fault `not_found`, `forbidden`, `conflict` where its request is no longer stored
 */
export async function retryNow(
  deps: DestinationDeps,
  owner: DestinationOwner,
  deliveryId: string,
): Promise<DeliveryRow> {
  requireForwarding(deps.forwarding, owner.admin)
  const { db } = deps
  const { workspaceId, endpointId } = owner
  await requireEndpoint(db, workspaceId, endpointId)
  const delivery = await findDelivery(db, endpointId, deliveryId)
  if (!delivery) throw new Fault('not_found', 'The delivery was not found, or it has been deleted.')
  const request = await findRequest(db, endpointId, delivery.requestId)
  if (!request) throw new Fault('conflict', 'The request of this delivery has been deleted.')
  const edit = delivery.edited ? (await readEdits(db, [deliveryId])).get(deliveryId) : null
  if (edit === undefined)
    throw new Fault('conflict', 'The edited request is no longer stored. Edit it again.')
  requireSendable(requestToSend(request, edit), markOf(endpointId, deps.secretKey))
  const { state } = await requireDestination(db, endpointId, delivery.destinationId)
  await retryDelivery(db, deliveryId, state === 'active' ? 'waiting' : 'held')
  await notifyDeliveries(db, delivery.destinationId)
  return (await findDelivery(db, endpointId, deliveryId)) ?? delivery
}

/**
 * Sends a captured request to one destination, whether or not it was sent before.
 * @throws Fault `not_found`, `forbidden`, `invalid_request` for an edit, `conflict` for one that
 *   cannot be sent, or where too many edited ones wait
 */
export async function forwardRequest(
  deps: DestinationDeps,
  owner: DestinationOwner,
  id: string,
  given: { requestId: string; edit?: RequestEdit | undefined },
): Promise<DeliveryRow> {
  requireForwarding(deps.forwarding, owner.admin)
  const { db } = deps
  const { workspaceId, endpointId } = owner
  await requireEndpoint(db, workspaceId, endpointId)
  const row = await requireDestination(db, endpointId, id)
  const { requestId } = given
  const captured = await findRequest(db, endpointId, requestId)
  if (!captured)
    throw new Fault('not_found', 'The captured request was not found, or it has been deleted.')
  const edit = given.edit ? parseEdit(given.edit) : null
  const request = requestToSend(captured, edit)
  requireSendable(request, markOf(endpointId, deps.secretKey))
  const deliveryId = await db.transaction().execute(async (trx) => {
    if (edit && !(await makeRoomForEdit(trx, endpointId)))
      throw new Fault(
        'conflict',
        `Up to ${MAX_EDITS_PER_ENDPOINT} edited requests of an endpoint can wait. Try again later.`,
      )
    const inserted = await insertDelivery(trx, {
      destinationId: id,
      endpointId,
      requestId,
      state: row.state === 'active' ? 'waiting' : 'held',
      bytes: request.body.length,
      orderKey: orderKeyOf(row, request),
      edited: edit !== null,
    })
    if (edit) await insertEdit(trx, { deliveryId: inserted, endpointId }, edit)
    await notifyDeliveries(trx, id)
    return inserted
  })
  return (await findDelivery(db, endpointId, deliveryId)) as DeliveryRow
}

/** In place of the value of a header that a caller must not read. */
export const HIDDEN = '…'

/**
 * A destination as the API returns it. Who cannot change it reads neither the path of its URL nor its
 * headers, with which its server could be called.
 */
export function presentDestination({ row, settings }: OpenedDestination, hidesSecrets: boolean) {
  const { sealed: _sealed, target, orderMode, orderKey, dueAt, ...rest } = row
  const headers = settings?.headers ?? []
  return {
    ...rest,
    url: hidesSecrets ? `${target}/${HIDDEN}` : (settings?.url ?? target),
    headers: hidesSecrets ? headers.map(([name]): Header => [name, HIDDEN]) : headers,
    order: { mode: orderMode, key: orderKey },
    publicKey: settings && publicKeyOf(row.sign, settings),
    nextAttemptAt: row.state === 'active' && dueAt > new Date() ? dueAt : null,
  }
}

async function changing(
  { db, secretKey }: DestinationDeps,
  { workspaceId, endpointId }: DestinationOwner,
  id: string,
  change: (trx: Db, opened: OpenedDestination) => Promise<SealedSettings | void>,
): Promise<Changed> {
  return db.transaction().execute(async (trx) => {
    const endpoint = await requireEndpoint(trx, workspaceId, endpointId)
    const row = await requireDestination(trx, endpointId, id)
    const settings = tryUnseal(row, secretKey)
    const changed = await change(trx, { row, settings })
    await notify(trx, DESTINATION_CHANGED, { id })
    return finish(trx, endpoint, id, changed ?? settings)
  })
}

async function finish(
  trx: Db,
  endpoint: EncryptedEndpoint,
  id: string,
  settings: SealedSettings | null,
): Promise<Changed> {
  await notifyEndpointChange(trx, endpoint.workspaceId, endpoint)
  return { row: await requireDestination(trx, endpoint.id, id), settings, token: endpoint.token }
}

/** @throws Fault `not_found` */
async function requireDestination(
  db: Db,
  endpointId: string,
  id: string,
): Promise<ListedDestination> {
  const row = await findDestination(db, endpointId, id)
  if (!row) throw destinationNotFound()
  return row
}

function valuesOf({ url: _url, headers: _headers, order, ...given }: DestinationSettings) {
  const values = { ...given, ...(order && { orderMode: order.mode, orderKey: order.key ?? null }) }
  const defined = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as DestinationValues
}

/** @throws Fault `forbidden` */
export function requireForwarding(policy: ForwardingPolicy, isAdministrator: boolean): void {
  if (policy === 'all' || (policy === 'admins' && isAdministrator)) return
  throw new Fault(
    'forbidden',
    policy === 'off'
      ? 'This service does not forward requests (WEBHOOK_FORWARDING).'
      : 'Only administrators can forward requests (WEBHOOK_FORWARDING).',
  )
}

/** @throws Fault `conflict` */
function requireSendable(request: RequestRow, mark: string): void {
  const reason = unsendableReason(request, mark)
  if (reason !== null) throw new Fault('conflict', UNSENDABLE[reason])
}

function requireRoom(count: { ofWorkspace: number; ofEndpoint: number }): void {
  if (count.ofEndpoint >= MAX_DESTINATIONS_PER_ENDPOINT)
    throw new Fault(
      'conflict',
      `An endpoint can have up to ${MAX_DESTINATIONS_PER_ENDPOINT} destinations. Delete one.`,
    )
  if (count.ofWorkspace >= MAX_DESTINATIONS_PER_WORKSPACE)
    throw new Fault(
      'conflict',
      `A workspace can have up to ${MAX_DESTINATIONS_PER_WORKSPACE} destinations. Delete one.`,
    )
}

function requireValid(details: FaultDetail[]): void {
  if (details.length === 0) return
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  throw new Fault('invalid_request', `This destination is not valid: ${sentence}.`, { details })
}

function destinationNotFound(): Fault {
  return new Fault('not_found', 'The destination was not found.')
}

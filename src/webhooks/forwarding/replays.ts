import type { Kysely } from 'kysely'
import { Fault, invalidField } from '../../errors.ts'
import type { DB } from '../../store/tables.ts'
import { parseConditions } from '../conditions/conditions.ts'
import { createRequestValues } from '../conditions/request-values.ts'
import { requireEndpoint } from '../endpoints/endpoints.ts'
import { findEndpoint, type EncryptedEndpoint } from '../endpoints/endpoints.sql.ts'
import {
  MAX_PAGE_BYTES,
  MAX_REPLAY_QUEUE,
  MAX_RUNNING_REPLAYS,
  REPLAY_PAGE_SECONDS,
  MAX_REPLAY_PAGE,
} from '../limits.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { listRequests } from '../requests/captured-requests.sql.ts'
import { verifyRequestSignature } from '../requests/verify-signature.ts'
import { notifyDeliveries } from './deliveries-notifier.ts'
import { requireForwarding, type DestinationDeps, type DestinationOwner } from './destinations.ts'
import { findDestination, type DestinationRow } from './destinations.sql.ts'
import { orderKeyOf, unsendableReason } from './forwardable.ts'
import { markOf } from './forwarding-marks.ts'
import {
  cancelReplay,
  claimReplays,
  countRunningReplays,
  countWaiting,
  findReplay,
  insertReplay,
  measureReplay,
  newestStates,
  saveReplayPage,
  type ClaimedReplay,
  type NewReplay,
  type ReplayRow,
} from './replays.sql.ts'
import type { GivenReplay } from './shapes.ts'

/**
 * Starts to send captured requests to a destination again.
 * @throws Fault `not_found`, `invalid_request`, `forbidden`, `conflict` where too many run
 */
export async function startReplay(
  { db, forwarding }: DestinationDeps,
  owner: DestinationOwner,
  given: GivenReplay,
): Promise<ReplayRow> {
  requireForwarding(forwarding, owner.admin)
  const { workspaceId, endpointId } = owner
  const { destination, requests, filter = {}, perMinute = 600 } = given
  if ((requests === undefined) === (given.filter === undefined))
    throw invalid('requests', 'or filter is required, and not both')
  const parsed = parseConditions(filter.when ?? {}, 'filter.when')
  if ('wrong' in parsed) throw invalid(parsed.wrong.path, parsed.wrong.message)
  const replay: NewReplay = {
    workspaceId,
    endpointId,
    destinationId: destination,
    requestIds: requests ?? null,
    since: filter.since === undefined ? null : new Date(filter.since),
    until: filter.until === undefined ? null : new Date(filter.until),
    states: filter.states ?? null,
    when: filter.when ?? {},
    perMinute,
  }
  return db.transaction().execute(async (trx) => {
    await requireEndpoint(trx, workspaceId, endpointId)
    if (!(await findDestination(trx, endpointId, destination)))
      throw new Fault('not_found', 'The destination was not found.')
    if ((await countRunningReplays(trx, endpointId)) >= MAX_RUNNING_REPLAYS)
      throw new Fault(
        'conflict',
        `Up to ${MAX_RUNNING_REPLAYS} replays of an endpoint can run. Wait for one, or cancel it.`,
      )
    const made = await insertReplay(trx, { ...replay, ...(await measureReplay(trx, replay)) })
    await notifyDeliveries(trx, destination)
    return made
  })
}

/** @throws Fault `not_found` */
export async function requireReplay(
  db: Kysely<DB>,
  { workspaceId, endpointId }: Omit<DestinationOwner, 'admin'>,
  id: string,
): Promise<ReplayRow> {
  await requireEndpoint(db, workspaceId, endpointId)
  const row = await findReplay(db, endpointId, id)
  if (!row) throw new Fault('not_found', 'The replay was not found.')
  return row
}

/** Cancels a replay with its deliveries that wait. @throws Fault `not_found` */
export async function stopReplay(
  db: Kysely<DB>,
  owner: Omit<DestinationOwner, 'admin'>,
  id: string,
): Promise<ReplayRow> {
  const { id: replayId } = await requireReplay(db, owner, id)
  await db.transaction().execute((trx) => cancelReplay(trx, replayId))
  return requireReplay(db, owner, id)
}

/**
 * Queues the next page of replays that are due.
 * @returns how many
 */
export async function continueReplays(
  { db, secretKey }: { db: Kysely<DB>; secretKey: string },
  limit: number,
): Promise<number> {
  const claimed = await claimReplays(db, limit)
  for (const replay of claimed) {
    const endpoint = await findEndpoint(db, replay.workspaceId, replay.endpointId)
    if (endpoint) await continueReplay({ db, secretKey }, replay, endpoint)
  }
  return claimed.length
}

/**
 * Queues the next page of a claimed replay. Of a long one, only as many wait as leave room for new
 * requests.
 */
async function continueReplay(
  { db, secretKey }: { db: Kysely<DB>; secretKey: string },
  replay: ClaimedReplay,
  endpoint: EncryptedEndpoint,
): Promise<void> {
  const { destinationId, endpointId, perMinute, cursor, upTo } = replay
  const destination = await findDestination(db, endpointId, destinationId)
  if (!destination) return
  const size = Math.min(MAX_REPLAY_PAGE, Math.ceil((perMinute * REPLAY_PAGE_SECONDS) / 60))
  const dueAt = new Date(Date.now() + (size / perMinute) * 60_000)
  const nothing = { cursor, compared: 0, isLast: false, dueAt, deliveries: [] }
  if ((await countWaiting(db, destinationId, MAX_REPLAY_QUEUE)) >= MAX_REPLAY_QUEUE)
    return void (await saveReplayPage(db, replay, nothing))
  const filter = { since: replay.since ?? undefined, until: replay.until ?? undefined }
  const page = { order: 'asc', from: cursor, limit: size, maxBytes: MAX_PAGE_BYTES } as const
  const { rows, hasMore } = await listRequests(db, endpointId, page, filter)
  const within = rows.filter(({ seq }) => seq <= upTo)
  const chosen = await choose(db, replay, endpoint, within, secretKey)
  const last = within.at(-1)?.seq ?? upTo
  const isLast = !hasMore || within.length < rows.length || last >= upTo
  await db.transaction().execute(async (trx) => {
    const isSaved = await saveReplayPage(trx, replay, {
      cursor: last,
      compared: within.filter((row) => isWanted(replay, row)).length,
      isLast,
      // A page of which little was chosen is followed by the next one at once.
      dueAt: new Date(Date.now() + (chosen.length / perMinute) * 60_000),
      deliveries: chosen.map((row) => deliveryOf(row, destination)),
    })
    if (isSaved && chosen.length > 0) await notifyDeliveries(trx, destinationId)
  })
}

/** Whether a request is one of those that the replay counts in its total. */
function isWanted({ requestIds }: ClaimedReplay, row: RequestRow): boolean {
  const isListed = requestIds === null || requestIds.includes(row.id)
  return isListed && row.rejected === null && !row.aborted && !row.preflight
}

async function choose(
  db: Kysely<DB>,
  replay: ClaimedReplay,
  endpoint: EncryptedEndpoint,
  rows: RequestRow[],
  secretKey: string,
): Promise<RequestRow[]> {
  const { states, when, destinationId } = replay
  const parsed = parseConditions(when)
  const mark = markOf(replay.endpointId, secretKey)
  if ('wrong' in parsed) return []
  const chosen = rows.filter(
    (row) =>
      isWanted(replay, row) &&
      unsendableReason(row, mark) === null &&
      parsed.matches(
        createRequestValues(
          row,
          () => verifyRequestSignature(row, endpoint, secretKey)?.status === 'valid',
        ),
      ),
  )
  if (states === null || chosen.length === 0) return chosen
  const newest = await newestStates(
    db,
    destinationId,
    chosen.map(({ id }) => id),
  )
  return chosen.filter(({ id }) => {
    const state = newest.get(id)
    return state !== undefined && states.includes(state)
  })
}

function deliveryOf(row: RequestRow, destination: DestinationRow) {
  return {
    requestId: row.id,
    bytes: row.body.length,
    orderKey: orderKeyOf(destination, row),
  }
}

function invalid(path: string, message: string): Fault {
  return invalidField(path, message, `This replay is not valid: ${path}`)
}

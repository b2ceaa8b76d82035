import { randomUUID } from 'node:crypto'
import { Fault } from '../../errors.ts'
import type { GuardDeps } from '../../net/http/guarded-request.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import {
  findOpened,
  requireForwarding,
  type DestinationDeps,
  type DestinationOwner,
} from './destinations.ts'
import { markOf } from './forwarding-marks.ts'
import { buildRequest, messageIdOf } from './outgoing-request.ts'
import { sendAttempt, type AttemptResult } from './send-attempt.ts'

export type TestDeps = DestinationDeps & {
  guard: GuardDeps
  /** The address of this service, which each request names. */
  baseUrl: string
}

/**
 * Sends a test event to a destination, whatever its state: once, and beside what waits for it. It
 * carries `X-Portreeve-Test`, and nothing of it is stored.
 * @throws Fault `not_found`, `forbidden`, `conflict` where this SECRET_KEY does not decrypt it
 */
export async function testDestination(
  deps: TestDeps,
  owner: DestinationOwner,
  id: string,
): Promise<AttemptResult> {
  requireForwarding(deps.forwarding, owner.admin)
  const { row, settings } = await findOpened(deps, owner, id)
  if (settings === null)
    throw new Fault('conflict', 'The destination cannot be decrypted. Enter its URL again.')
  const { sign, timeoutSeconds } = row
  const event = testEvent()
  const sent = await buildRequest(event, {
    settings,
    sign,
    messageId: messageIdOf(event.id, null),
    isEdited: false,
    attempt: 1,
    repeat: 'no',
    mark: markOf(owner.endpointId, deps.secretKey),
    baseUrl: deps.baseUrl,
    now: Date.now(),
  })
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000)
  return sendAttempt(sent, deps.guard, timeout)
}

/** A request as a sender could send it. */
function testEvent(): RequestRow {
  const receivedAt = new Date()
  const event = { type: 'portreeve.test', timestamp: receivedAt.toISOString(), data: {} }
  const body = Buffer.from(JSON.stringify(event))
  return {
    id: randomUUID(),
    seq: 0,
    method: 'POST',
    path: '',
    query: '',
    headers: [
      ['Content-Type', 'application/json'],
      ['X-Portreeve-Test', '1'],
    ],
    trailers: null,
    ip: '127.0.0.1',
    body,
    bodySize: body.length,
    contentType: 'application/json',
    receivedAt,
    durationMs: 0,
    httpVersion: '1.1',
    preflight: false,
    aborted: false,
    rejected: null,
    responseStatus: null,
    surplus: null,
    answeredBy: null,
    repeatOf: null,
  }
}

import type { ServerResponse } from 'node:http'
import type { Endpoint } from '../endpoints/endpoints.ts'
import { HANG_MS, MAX_TRICKLE_PARTS, TRICKLE_INTERVAL_MS } from '../limits.ts'
import type { ResponseFault } from '../rules/shapes.ts'
import { isBodiless, sendResponse, type CaptureResponse } from './capture-responses.ts'
import type { DelayedResponses } from './delayed-responses.ts'

type Sender = {
  /** Counts the senders that wait. */
  delays: DelayedResponses
  endpoint: Pick<Endpoint, 'id' | 'responsibleId'>
}

/** The same response with a header that says that its sender did not wait, because too many do. */
export function withoutDelay(reply: CaptureResponse): CaptureResponse {
  return { ...reply, headers: [...reply.headers, 'X-Webhook-Delay-Skipped', '1'] }
}

/** Answers as a server does that has a fault, for senders that are tested. */
export function sendFault(
  fault: ResponseFault,
  response: ServerResponse,
  reply: CaptureResponse,
  sender: Sender,
): void {
  const { socket } = response
  const hasBody = !isBodiless(reply.status) && response.req.method !== 'HEAD'
  if (fault === 'reset') socket?.resetAndDestroy()
  else if (fault === 'close') socket?.destroySoon()
  else if (fault === 'hang') hang(response, reply, sender)
  else if (!hasBody) sendResponse(response, reply)
  else if (fault === 'truncate') truncate(response, reply)
  else trickle(response, reply, sender)
}

function hang(
  response: ServerResponse,
  reply: CaptureResponse,
  { delays, endpoint: { id, responsibleId } }: Sender,
): void {
  const waiting = { id, responsibleId, timeout: HANG_MS / 1000 }
  const isScheduled = delays.schedule(waiting, response, () => response.socket?.destroySoon())
  if (!isScheduled) sendResponse(response, withoutDelay(reply))
}

/** Ends the connection in the middle of the body; an empty one lacks all of what it declares. */
function truncate(response: ServerResponse, { status, headers, body }: CaptureResponse): void {
  response.writeHead(status, [...headers, 'Content-Length', String(Math.max(2, body.length))])
  response.flushHeaders()
  if (body.length > 1) response.write(body.slice(0, body.length >> 1), 'latin1')
  response.socket?.destroySoon()
}

/** Sends the body in small parts. The rest follows at once where the service stops. */
function trickle(
  response: ServerResponse,
  reply: CaptureResponse,
  { delays, endpoint: { id, responsibleId } }: Sender,
): void {
  const { status, headers, body } = reply
  const size = Math.max(1, Math.ceil(body.length / MAX_TRICKLE_PARTS))
  const parts = Math.ceil(body.length / size)
  let sent = 0
  const waiting = { id, responsibleId, timeout: (parts * TRICKLE_INTERVAL_MS) / 1000 }
  const isScheduled = delays.schedule(waiting, response, () => {
    clearInterval(timer)
    response.end(body.slice(sent), 'latin1')
  })
  if (!isScheduled) return sendResponse(response, withoutDelay(reply))
  response.writeHead(status, [...headers, 'Content-Length', String(body.length)])
  response.flushHeaders()
  const timer = setInterval(() => {
    if (response.destroyed || sent >= body.length) return clearInterval(timer)
    response.write(body.slice(sent, sent + size), 'latin1')
    sent += size
  }, TRICKLE_INTERVAL_MS)
}

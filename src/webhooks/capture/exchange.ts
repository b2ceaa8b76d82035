import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../../log.ts'
import type { RequestKey } from '../requests/captured-request.ts'
import type { AbortReason } from './decide-response.ts'
import type { StoreOutcome } from './capture-commits.ts'
import type { ReceivedBody } from './read-body.ts'
import { describeSurplus, findSurplus, type ParseError, type Surplus } from './surplus.ts'

/**
 * The state of a request, which events on its connection add to. It lasts as long as the connection,
 * so it must not refer to the body.
 */
export type Exchange = {
  request: IncomingMessage
  abort: AbortReason | null
  /** Whether its body has been received. */
  isReceived: boolean
  /** The error of the parser on the bytes after the request. */
  laterError: ParseError | null
  /** The key of the row, and the result of storing it. */
  stored: StoredRequest | null
}

type StoredRequest = { key: RequestKey; outcome: Promise<StoreOutcome> }

/**
 * Stores bytes that follow a request as a malformed request. @returns false when they name no
 * endpoint
 */
export type StoreMalformed = (error: ParseError, socket: Socket) => boolean

/**
 * Updates with late surplus bytes that run at once. More are dropped, so that a flood of them costs
 * no more than this.
 */
const MAX_SURPLUS_UPDATES = 16

export function startExchange(request: IncomingMessage): Exchange {
  return { request, abort: null, isReceived: false, laterError: null, stored: null }
}

/**
 * Finds the surplus in the packet that also ends the request, once its body is read. Null when
 * there is none, or when it is stored as a malformed request.
 */
export function findReceivedSurplus(
  { request, laterError }: Exchange,
  { lastChunk }: ReceivedBody,
  storeMalformed: StoreMalformed,
): Surplus | null {
  if (laterError === null) return null
  const bytes = findSurplus(request, lastChunk, laterError)
  const { message, code = '', reason = message } = laterError
  const ownError = Object.assign(new Error(message), { code, reason, rawPacket: bytes })
  if (storeMalformed(ownError, request.socket)) return null
  return describeSurplus(bytes, laterError)
}

type SurplusUpdatesDeps = {
  /** Adds surplus bytes to a request that was stored without them. */
  saveSurplus: (request: RequestKey, surplus: Surplus) => Promise<void>
  log: Logger
}

export type SurplusUpdates = {
  /** Saves the surplus of a request after the request is stored; never throws. */
  save(request: StoredRequest, surplus: Surplus): Promise<void>
}

export function createSurplusUpdates({ saveSurplus, log }: SurplusUpdatesDeps): SurplusUpdates {
  let running = 0
  return {
    async save({ key, outcome }, surplus) {
      if (running >= MAX_SURPLUS_UPDATES) return
      running++
      try {
        if ((await outcome) === 'stored') await saveSurplus(key, surplus)
      } catch (error) {
        log.warn({ err: error }, 'the surplus of a captured request was not saved')
      } finally {
        running--
      }
    },
  }
}

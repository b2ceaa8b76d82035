import { finished } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { clientNetwork } from '../client-address.ts'
import { partsBytes } from '../send-parts.ts'
import type { App } from '../http-server.ts'
import { hasConcurrencyLimit } from './request-limits.ts'

/**
 * Requests of one account, or without one of one network, handled at once in one instance, which
 * has 15 database connections.
 */
const MAX_CONCURRENT = 8

/** A body of this size occupies the process while it is parsed. */
const LARGE_BODY_BYTES = 64 * 1024
const MAX_CONCURRENT_LARGE_BODIES = 2

/**
 * Milliseconds per mebibyte for which a large body keeps its place after the response. Parsing and
 * validating it occupied the process for about 30 ms per mebibyte, so one account gets about a
 * quarter of the process.
 */
const BODY_REST_MS_PER_MIB = 4 * MAX_CONCURRENT_LARGE_BODIES * 30

/**
 * Responses of at least this size occupy memory until the client has read them, so they count until
 * then.
 */
const LARGE_ANSWER_BYTES = 256 * 1024

/**
 * Milliseconds per mebibyte for which a large response keeps its place. Building it occupied the
 * process for about 10 ms per mebibyte, so one account gets at most half of the process.
 */
const ANSWER_REST_MS_PER_MIB = 2 * MAX_CONCURRENT * 10

/**
 * Requests of routes whose work grows with what is stored, and the longest time for which one keeps
 * its place after the response: as long as it took, so one account gets about half of the process.
 */
const MAX_CONCURRENT_HEAVY = 2
const MAX_HEAVY_REST_MS = 500

/** Waiting requests of one account. */
const MAX_WAITING = 200
const RETRY_AFTER_SECONDS = 2

type Turn = () => void
type Share = { running: number; waiting: Turn[] }
/** The queue that a request waits in, and how long it keeps its place for each byte of its body. */
type Subject = {
  key: string
  maxConcurrent: number
  restMsPerMib: number
  /** Whether it keeps its place after the response for as long as it took. */
  isHeavy: boolean
  /** Whether it is a request with a small body that nobody has authenticated. */
  isAnonymous: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A probe of the service, which waits for no other request. */
    isProbe?: true
    /** The work grows with what the workspace has stored, however short the response is. */
    isHeavy?: true
  }
}

/**
 * Limits concurrent requests of the account that answers for the workspace of a request, or without one
 * per client network: those beyond the limit wait in order of arrival. Applies to every route, except
 * probes and those with a limit of their own. Large bodies have a limit of their own.
 * @param ownerOf the account of a session cookie where it is known without a query, for routes that
 *   authenticate nobody
 */
export function limitConcurrency(
  app: App,
  ownerOf: (cookie: string | undefined) => string | undefined,
): void {
  const shares = new Map<string, Share>()
  const leaving = new WeakMap<FastifyRequest, () => void>()
  const largeAnswers = new WeakMap<FastifyRequest, number>()

  // After authentication, and before the body is read.
  app.addHook('preParsing', async (request, reply, payload) => {
    const subject = subjectOf(request, ownerOf)
    if (subject === null || subject.isAnonymous) return payload
    const leave = await enter(shares, subject, reply)
    const { socket } = request.raw
    // A request of the process to itself has no socket that counts.
    const bytesRead = () => socket.bytesRead ?? 0
    const readBefore = bytesRead()
    const began = performance.now()
    const rest = (answerMs = 0) => {
      const bodyMs = inMib(bytesRead() - readBefore) * subject.restMsPerMib
      const workMs = subject.isHeavy ? Math.min(performance.now() - began, MAX_HEAVY_REST_MS) : 0
      const restMs = bodyMs + Math.max(answerMs, workMs)
      if (restMs === 0) leave()
      else setTimeout(leave, restMs).unref()
    }
    leaving.set(request, rest)
    // After a response, a disconnect or a broken connection.
    finished(reply.raw, { readable: false }, () => {
      const bytes = partsBytes(request) ?? largeAnswers.get(request) ?? 0
      rest(bytes < LARGE_ANSWER_BYTES ? 0 : inMib(bytes) * ANSWER_REST_MS_PER_MIB)
    })
    return payload
  })

  // People who share a network must not be able to stop one another: there a request has a place
  // only between the end of its body and the begin of its response, and a slow client none.
  app.addHook('preValidation', async (request, reply) => {
    const subject = subjectOf(request, ownerOf)
    if (!subject?.isAnonymous) return
    const leave = await enter(shares, subject, reply)
    leaving.set(request, leave)
    finished(reply.raw, { readable: false }, leave)
  })

  app.addHook('onSend', async (request, _reply, payload) => {
    const bytes = sizeOf(payload)
    if (request.caller && bytes >= LARGE_ANSWER_BYTES) largeAnswers.set(request, bytes)
    else if (!request.caller || partsBytes(request) === undefined) leaving.get(request)?.()
  })
}

function subjectOf(
  { caller, headers, ip, routeOptions }: FastifyRequest,
  ownerOf: (cookie: string | undefined) => string | undefined,
): Subject | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  const who = caller?.responsibleId ?? ownerOf(headers.cookie) ?? clientNetwork(ip)
  if (encoding !== undefined || Number(length ?? 0) > LARGE_BODY_BYTES)
    return {
      key: `large ${who}`,
      maxConcurrent: MAX_CONCURRENT_LARGE_BODIES,
      restMsPerMib: BODY_REST_MS_PER_MIB,
      isHeavy: false,
      isAnonymous: false,
    }
  const { isProbe, isHeavy = false, limit } = routeOptions.config
  if (isProbe || hasConcurrencyLimit(limit)) return null
  return {
    key: isHeavy ? `heavy ${who}` : who,
    maxConcurrent: isHeavy ? MAX_CONCURRENT_HEAVY : MAX_CONCURRENT,
    restMsPerMib: 0,
    isHeavy,
    isAnonymous: !caller,
  }
}

const inMib = (bytes: number) => bytes / 2 ** 20

/**
 * Waits for the request’s turn.
 * @returns ends it; may be called more than once
 * @throws Fault `rate_limited` when too many wait already
 */
async function enter(
  shares: Map<string, Share>,
  { key, maxConcurrent }: Subject,
  reply: FastifyReply,
): Promise<() => void> {
  const share = shares.get(key) ?? { running: 0, waiting: [] }
  shares.set(key, share)
  // A finished request passes its place to the next one, so that no new request overtakes it.
  if (share.running >= maxConcurrent) await waitIn(share, reply)
  else share.running++

  let hasLeft = false
  return () => {
    if (hasLeft) return
    hasLeft = true
    const next = share.waiting.shift()
    if (next) return next()
    share.running--
    if (share.running === 0) shares.delete(key)
  }
}

function waitIn({ waiting }: Share, reply: FastifyReply): Promise<void> {
  if (waiting.length >= MAX_WAITING) throw tooMany()
  return new Promise((resolve, reject) => {
    waiting.push(resolve)
    // A client that leaves gives its place to those behind it.
    reply.raw.once('close', () => {
      const at = waiting.indexOf(resolve)
      if (at < 0) return
      waiting.splice(at, 1)
      reject(tooMany())
    })
  })
}

function tooMany(): Fault {
  const sentence = `Up to ${MAX_WAITING} requests of one account or network may wait. Wait for some to end, then try again.`
  return new Fault('rate_limited', sentence, { retryAfter: RETRY_AFTER_SECONDS })
}

/** Bytes of an answer in memory; those of a stream are not. */
function sizeOf(payload: unknown): number {
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
}

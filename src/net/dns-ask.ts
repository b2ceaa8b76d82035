import type { HostPort } from '../setting-values.ts'
import { isAborted, onAbort } from './abort.ts'
import type { DnsFailure, QueryOptions, RecordType } from './dns-record.ts'
import { createTcp, createUdp, type Reply } from './dns-exchange.ts'
import { encodeQuery, isTruncated, readAnswer, type Reading } from './dns-wire.ts'

export type SendQuery = (
  name: string,
  type: RecordType,
  timeoutMs: number,
  notifications: AbortSignal[],
  options?: QueryOptions,
) => Promise<Reading>

/**
 * One try at one server, all of it inside `timeoutMs`: UDP, then TCP for an answer that was cut.
 */
export function createSendQuery(server: HostPort): SendQuery {
  const udp = createUdp(server)
  const tcp = createTcp(server)
  return async (name, type, timeoutMs, notifications, options) => {
    const deadline = performance.now() + timeoutMs

    async function exchange(edns: boolean): Promise<Reading> {
      const query = encodeQuery(name, type, { ...options, edns })
      if (!query) return { failure: 'BADNAME' }
      let reply = await within(deadline, notifications, (done) => udp(query, done))
      if (Buffer.isBuffer(reply) && isTruncated(reply)) {
        reply = await within(deadline, notifications, (done) => tcp(query, done))
      }
      if (!Buffer.isBuffer(reply)) return { failure: reply }
      return readAnswer(reply, name, type) ?? { failure: 'OTHER' }
    }

    const reading = await exchange(true)
    // RFC 6891, 7: a server from before EDNS calls the query malformed.
    return 'failure' in reading && reading.failure === 'FORMERR' ? exchange(false) : reading
  }
}

/**
 * Ends an exchange at its answer, at the deadline or when a signal aborts, whichever comes first.
 */
async function within(
  deadline: number,
  notifications: AbortSignal[],
  start: (done: (reply: Reply) => void) => () => void,
): Promise<Reply | DnsFailure> {
  if (isAborted(notifications)) return 'ABORTED'
  const { promise, resolve } = Promise.withResolvers<Reply | DnsFailure>()
  const timer = setTimeout(() => resolve('TIMEOUT'), Math.max(0, deadline - performance.now()))
  const leave = onAbort(notifications, () => resolve('ABORTED'))
  let forget: (() => void) | undefined
  try {
    forget = start(resolve)
    return await promise
  } catch {
    // No socket could be opened (port 0, no file descriptors left).
    return 'NETWORK'
  } finally {
    clearTimeout(timer)
    leave()
    forget?.()
  }
}

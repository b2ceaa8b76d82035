import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../../errors.ts'
import { askService } from '../../net/http/event-stream.ts'
import { endToEndHeaders, type ForwardedResponse } from '../../net/http/forward.ts'
import { paint } from '../terminal-text.ts'
import { serviceUrl } from '../service-access.ts'

/** Answers the senders of an endpoint, as long as it has the lease. */
export type Answering = {
  /** Seconds for which a sender waits. */
  holdSeconds: number
  /** Answers a request. @returns why the sender did not get it; null for an answer that was accepted */
  answer(requestId: string, response: ForwardedResponse): Promise<string | null>
  end(): Promise<void>
}

type Options = { server: URL; endpointId: string; apiToken: string; holdSeconds: number }

/** Milliseconds between two renewals, and two attempts to get the lease. */
const RENEWAL_MS = 5_000

type Lease = { listener: { id: string } }

/**
 * Becomes the listener that answers, and keeps being it until it ends. While another one answers, or
 * the service is away, it tries again.
 * @throws Fault where the service refuses it
 */
export async function startAnswering(
  { server, endpointId, apiToken, holdSeconds }: Options,
  signal: AbortSignal,
): Promise<Answering> {
  const base = `/api/webhook/endpoints/${endpointId}`
  const ask = <T>(path: string, sent: Parameters<typeof askService>[4], until = signal) =>
    askService<T>(serviceUrl(server, base + path), apiToken, until, null, sent)
  const ending = new AbortController()
  let id: string | null = null

  async function acquire(): Promise<void> {
    id = (await ask<Lease>('/listeners', { body: { holdSeconds } })).listener.id
  }

  async function renew(): Promise<void> {
    try {
      if (id === null) await acquire()
      else await ask(`/listeners/${id}/renew`, { body: {} })
    } catch (error) {
      if (signal.aborted) return
      // A conflict means that the lease has ended, or that another listener has it.
      if (error instanceof Fault && error.code === 'conflict' && id !== null) {
        id = null
        warn('This listener no longer answers; trying again.')
      }
    }
  }

  async function keep(): Promise<void> {
    for (;;) {
      await sleep(RENEWAL_MS, undefined, { signal: ending.signal }).catch(() => {})
      if (ending.signal.aborted || signal.aborted) return
      await renew()
    }
  }

  await acquire()
  const keeping = keep()
  return {
    holdSeconds,
    async answer(requestId, { status, headers, body }) {
      if (id === null) return 'this listener does not answer at the moment'
      const bodyBase64 = body.toString('base64')
      const answer = { listener: id, status, headers: endToEndHeaders(headers), bodyBase64 }
      try {
        await ask(`/requests/${requestId}/answer`, { body: answer })
        return null
      } catch (error) {
        return messageOf(error)
      }
    },
    async end() {
      ending.abort()
      await keeping
      if (id === null) return
      // The signal of the program has been aborted by now.
      const sent = { method: 'DELETE' } as const
      await ask(`/listeners/${id}`, sent, AbortSignal.timeout(2_000)).catch(() => {})
    },
  }
}

function warn(sentence: string): void {
  console.error(paint('yellow', sentence, process.stderr))
}

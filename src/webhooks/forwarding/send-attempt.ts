import { Fault } from '../../errors.ts'
import { classify } from '../../net/address.ts'
import type { Target } from '../../net/guard.ts'
import { mayHaveBeenAccepted } from '../../net/handover.ts'
import {
  guardedRequest,
  StaleConnection,
  type GuardDeps,
  type Phase,
} from '../../net/http/guarded-request.ts'
import type { KeptConnections } from '../../net/http/kept-connections.ts'
import { readBeginning } from '../../net/http/post.ts'
import { markRepeat, type OutgoingRequest } from './outgoing-request.ts'

/** Why an attempt failed: before the request was sent, without an answer, or by the answer. */
export type FailureKind =
  | 'blocked'
  | 'unreachable'
  | 'timeout'
  | 'unanswered'
  | 'redirect'
  | 'status'

/** Milliseconds of the phases of an attempt; null for one that was not reached, or not needed. */
export type Timings = {
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
  firstByteMs: number | null
}

export type AttemptResult = Timings & {
  durationMs: number
  /** Null where there was no answer. */
  status: number | null
  /** Null for a success. */
  kind: FailureKind | null
  error: string | null
  address: string | null
  /** Null where it came from an address that is not public, or could not be read. */
  answer: string | null
  retryAfter: string | null
}

/**
 * Sends one request to a destination. Each attempt goes through the guard, which resolves the name
 * again and checks every address; redirects are failures.
 * @param kept connections that are used again. One that the receiver has closed meanwhile is replaced
 *   at once, in the same attempt: the receiver may have the request, which is then marked
 */
export async function sendAttempt(
  sent: OutgoingRequest,
  deps: GuardDeps,
  signal: AbortSignal,
  kept?: KeptConnections,
): Promise<AttemptResult> {
  const first = await sendOnce(sent, deps, signal, kept)
  return first === 'stale' ? sendAttempt(markRepeat(sent, 'maybe-delivered'), deps, signal) : first
}

async function sendOnce(
  { url, method, path, headers, body }: OutgoingRequest,
  deps: GuardDeps,
  signal: AbortSignal,
  kept: KeptConnections | undefined,
): Promise<AttemptResult | 'stale'> {
  const clock = startClock()
  try {
    const answered = await guardedRequest(
      url,
      {
        method,
        path,
        headers: [...headers, ['Connection', kept ? 'keep-alive' : 'close']],
        onPhase: clock.ended,
        ...(kept && { kept }),
        accept: (target) => requireSecure(url, target),
        ...(body.length > 0 && { body }),
      },
      deps,
      signal,
      async (response, { addresses }) => {
        const isPublic = addresses.every((address) => classify(address).public)
        // A connection that stays open belongs to another request once the answer is read.
        const address = response.socket.remoteAddress ?? addresses[0] ?? null
        const answer = await readBeginning(response, signal)
        return {
          status: response.statusCode ?? 0,
          address,
          answer: isPublic ? textOf(answer) : null,
          retryAfter: response.headers['retry-after'] ?? null,
          location: response.headers.location ?? null,
        }
      },
    )
    const { location, ...result } = answered
    return { ...result, ...clock.read(), ...judge(result.status, location) }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.cause instanceof StaleConnection) return 'stale'
    return {
      ...clock.read(),
      status: null,
      kind: kindOf(error),
      error: error.message.replace('ALLOW_PRIVATE_TARGETS', 'FORWARD_PRIVATE_TARGETS'),
      address: null,
      answer: null,
      retryAfter: null,
    }
  }
}

/** Measures the phases of an attempt. */
function startClock() {
  const startedAt = performance.now()
  const ends = new Map<Phase, number>()
  const rounded = (milliseconds: number) => Math.round(milliseconds * 10) / 10
  const between = (from: number | undefined, to: Phase) => {
    const end = ends.get(to)
    return end === undefined || from === undefined ? null : rounded(end - from)
  }
  return {
    ended: (phase: Phase) => void ends.set(phase, performance.now()),
    read: () => ({
      durationMs: rounded(performance.now() - startedAt),
      dnsMs: between(startedAt, 'resolved'),
      connectMs: between(ends.get('resolved'), 'connected'),
      tlsMs: between(ends.get('connected'), 'secured'),
      firstByteMs: between(
        ends.get('secured') ?? ends.get('connected') ?? ends.get('resolved'),
        'answered',
      ),
    }),
  }
}

/** Requests of senders cross the internet encrypted, or not at all. */
function requireSecure(url: URL, { host, addresses }: Target): void {
  if (url.protocol === 'https:' || addresses.every((address) => !classify(address).public)) return
  throw new Fault('target_not_allowed', `${host} is a public address, which requires https://.`)
}

function judge(
  status: number,
  location: string | null,
): { kind: FailureKind | null; error: string | null } {
  if (status >= 200 && status < 300) return { kind: null, error: null }
  if (status >= 300 && status < 400 && status !== 304) {
    const to = location === null ? '' : ` to ${textOf(location.slice(0, 500))}`
    return {
      kind: 'redirect',
      error: `The receiver redirected${to}. Change the URL: redirects are not followed.`,
    }
  }
  return { kind: 'status', error: `The receiver responded ${status}.` }
}

function kindOf(error: Fault): FailureKind {
  if (error.code === 'target_not_allowed') return 'blocked'
  if (mayHaveBeenAccepted(error)) return 'unanswered'
  return error.code === 'upstream_timeout' ? 'timeout' : 'unreachable'
}

/** A text that PostgreSQL stores. */
const textOf = (text: string) => text.replaceAll('\u0000', '\ufffd')

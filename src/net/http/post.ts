import type { IncomingMessage } from 'node:http'
import { classify } from '../address.ts'
import { guardedRequest, type GuardDeps } from './guarded-request.ts'

/** Bytes of a response’s body; the rest is not read. */
const MAX_BODY_BYTES = 16 * 1024

/** Milliseconds for the body of a response: what the receiver did is in its status. */
const BODY_DEADLINE_MS = 5_000

export type PostResponse = {
  status: number
  /** The header `Retry-After`. */
  retryAfter: string | null
  /** The first 16 KB, as text. */
  body: string
  /** Whether it came from an address that is not public. */
  isPrivate: boolean
}

type PostRequest = {
  method?: 'POST' | 'PUT' | 'PATCH'
  headers: Record<string, string>
  body: string
  /** Called once connected, right before the receiver may accept the request. */
  beforeRequest?: () => Promise<void>
}

/**
 * Posts to a URL that a stranger chose.
 * @returns the response, whatever its status is
 * @throws Fault as `guardedRequest`
 */
export function post(
  url: URL,
  sent: PostRequest,
  deps: GuardDeps,
  signal: AbortSignal,
): Promise<PostResponse> {
  return guardedRequest(
    url,
    { method: 'POST', ...sent },
    deps,
    signal,
    async (response, { addresses }) => ({
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'] ?? null,
      body: await readBeginning(response, signal),
      isPrivate: addresses.some((address) => !classify(address).public),
    }),
  )
}

/** Reads what arrives in time: a body that breaks off does not change the status. */
export async function readBeginning(
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => response.destroy(), BODY_DEADLINE_MS)
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_BODY_BYTES || signal.aborted) break
    }
  } catch {
    // Truncated.
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8')
}

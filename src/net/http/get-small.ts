import { offline } from '../offline.ts'
import { guardedRequest, readBody, type GuardDeps } from './guarded-request.ts'

/** Bytes of a body; the files we fetch have a few hundred. */
const MAX_BODY_BYTES = 64 * 1024

export type SmallResponse = {
  status: number
  contentType: string | null
  body: Buffer
  /** The `Retry-After` header. */
  retryAfter?: string | null
}

declare module '../offline.ts' {
  interface Recording {
    /** A file at an https URL; undefined where nothing is recorded. */
    file(url: URL): SmallResponse | undefined
  }
}

/**
 * Fetches a small file from a host that a stranger named.
 * @throws Fault as `guardedRequest`; `upstream_rejected` when it is larger than 64 KiB
 */
export async function getSmall(
  url: URL,
  deps: GuardDeps,
  signal: AbortSignal,
  accept = 'text/plain',
): Promise<SmallResponse> {
  const recorded = offline()?.file(url)
  if (recorded) return recorded
  return guardedRequest(url, { headers: { accept } }, deps, signal, async (response, { host }) => ({
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? null,
    retryAfter: response.headers['retry-after'] ?? null,
    body: await readBody(response, host, MAX_BODY_BYTES),
  }))
}

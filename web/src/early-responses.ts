/** The part of a response that a request reads. */
type Answer = Pick<Response, 'ok' | 'status' | 'json'>

declare global {
  interface Window {
    /** The requests that `public/start.js` sent; null if the service was unreachable. */
    portreeveEarly?: {
      workspace: string | null
      account?: Promise<Response | null>
      /** Sent for `/home` only. */
      overview?: Promise<Response | null>
    }
  }
}

const ACCOUNT_PATH = '/api/v1/account'

/** Milliseconds after which a response is requested again: the user may have opened other screens. */
const MAX_AGE_MS = 30_000

/** The parts of the overview that were not taken yet, by path. */
let parts: Promise<Map<string, unknown>> | undefined

/**
 * Takes the response to a request that was sent before the scripts were loaded, once. The first
 * screen needs no round trip of its own then.
 * @returns null if there was none for this path and workspace, or if it was taken before
 */
export async function takeEarlyResponse(
  path: string,
  workspace: string | null,
): Promise<Answer | null> {
  const early = window.portreeveEarly
  if (early?.workspace !== workspace || performance.now() > MAX_AGE_MS) return null
  if (path === ACCOUNT_PATH) {
    const { account } = early
    delete early.account
    return (await account) ?? null
  }
  parts ??= readParts(early.overview)
  const known = await parts
  const part = known.get(path)
  known.delete(path)
  return part === undefined ? null : { ok: true, status: 200, json: async () => part }
}

/** When the oldest response that may be shown was requested, in milliseconds since the page began. */
export function oldestResponseAt(): number {
  const now = performance.now()
  return window.portreeveEarly === undefined || now > MAX_AGE_MS ? now : 0
}

async function readParts(
  overview: Promise<Response | null> | undefined,
): Promise<Map<string, unknown>> {
  const response = await overview
  if (!response?.ok) return new Map()
  const { data } = (await response.json()) as { data: Record<string, unknown> }
  return new Map(Object.entries(data))
}

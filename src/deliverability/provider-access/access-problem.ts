import { parseHttpDate } from '../../time.ts'

/**
 * Why a provider gives no data.
 * - `ended`: a person must sign in again, or enter another link
 * - `no-access`: not for this domain
 * - `failed`: not for this question
 * - `later`: not now
 */
export type AccessProblemKind = 'ended' | 'no-access' | 'failed' | 'later'

/** A provider gives no data, which is not the same as data of zero. */
export class AccessProblem extends Error {
  readonly kind: AccessProblemKind
  /** Seconds after which the provider wants to be asked again. */
  readonly retryAfterSeconds: number | null

  constructor(kind: AccessProblemKind, message: string, retryAfter: number | null = null) {
    super(message)
    this.name = 'AccessProblem'
    this.kind = kind
    this.retryAfterSeconds = retryAfter
  }
}

/** The seconds of a `Retry-After` header (RFC 9110, 10.2.3); null without one that is valid. */
export function retryAfterSeconds(header: string | null): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = parseHttpDate(header)
  return at === null ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}

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

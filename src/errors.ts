/** Every code of a failure in responses, and its HTTP status. */
export const STATUS_OF = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  reauthenticate: 403,
  two_factor_required: 403,
  not_a_member: 403,
  target_not_allowed: 403,
  demo: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  upstream_rejected: 422,
  rate_limited: 429,
  monthly_limit: 429,
  internal: 500,
  upstream_unreachable: 502,
  unavailable: 503,
  upstream_timeout: 504,
} as const

export type FaultCode = keyof typeof STATUS_OF

/** One field that was wrong: where (`source.host`) and what about it. */
export type FaultDetail = { path: string; message: string }

type FaultOptions = {
  details?: FaultDetail[]
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  retryAfter?: number
  /** What to type or change; only the command line prints it, as “Try: …”. */
  suggestion?: string | undefined
  cause?: unknown
}

/**
 * A failure with a stable code and a sentence a person understands. Work throws it;
 * `http/error-answers.ts` makes it an answer and the command line prints the sentence.
 */
export class Fault extends Error {
  readonly code: FaultCode
  readonly details: FaultDetail[] | undefined
  readonly retryAfter: number | undefined
  readonly suggestion: string | undefined

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'Fault'
    this.code = code
    this.details = options.details
    this.retryAfter = options.retryAfter
    this.suggestion = options.suggestion
  }

  get status(): number {
    return STATUS_OF[this.code]
  }
}

/** The text of anything thrown, for a log line or a sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * The fault of a field that is wrong.
 * @param subject begins the sentence; by default, the path
 */
export function invalidField(path: string, message: string, subject = path): Fault {
  return new Fault('invalid_request', `${subject} ${message}.`, { details: [{ path, message }] })
}

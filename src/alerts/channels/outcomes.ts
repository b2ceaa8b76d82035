/** The service does not take the message now. */
export class Later extends Error {
  readonly seconds: number | undefined

  /** @param seconds after which the service wants to be asked again, where it said so */
  constructor(reason: string, seconds?: number) {
    super(reason)
    this.seconds = seconds
  }
}

/** The service no longer accepts anything with these settings: a revoked token, a deleted room. */
export class Dead extends Error {}

/** The service never accepts this message; others it may. */
export class Rejected extends Error {}

/** What of a `ServiceResponse` decides. */
type Answer = { status: number; body: string; json: Record<string, unknown>; words: string }

/**
 * How a service answers: errors in JSON, errors as text, or in any way, as its users know alone. What
 * has another form comes from a proxy, which is not the end of anything.
 */
type AnswerForm = 'json' | 'text' | 'any'

/**
 * Returns for a success. Throws `Dead` where the answer of the service says that the settings no
 * longer work, `Rejected` for another refusal, and `Later` where it is not an answer of the service:
 * a redirect, a page of a proxy, or 404 while the service restarts behind one.
 */
export function requireSuccess(answer: Answer, isDead: boolean, form: AnswerForm = 'json'): void {
  const { status, words } = answer
  const isSuccess = status >= 200 && status < 300
  if (isSuccess && form === 'any') return
  if (form !== 'any' && isWebPage(answer) && !(isDead && !isSuccess))
    throw new Later(`A web page came in place of an answer. ${words}`)
  if (isSuccess && !isRefusal(answer)) return
  if (isDead) throw new Dead(words)
  if (status < 400 ? !isSuccess : TEMPORARY_STATUSES.has(status)) throw new Later(words)
  if (form === 'json' && !hasJson(answer)) throw new Later(words)
  throw new Rejected(words)
}

/** Request Timeout and Too Early (RFC 9110, 15.5.9; RFC 8470, 5.2). */
const TEMPORARY_STATUSES = new Set([408, 425])

/** Whether a status is that of the service: proxies respond 404 while a service restarts. */
export function isOwn404(answer: Pick<Answer, 'status' | 'json'>): boolean {
  return answer.status === 404 && hasJson(answer)
}

export function hasJson({ json }: Pick<Answer, 'json'>): boolean {
  return Object.keys(json).length > 0
}

/** Some services report an error with a status of success. */
function isRefusal({ json }: Answer): boolean {
  return json['ok'] === false || json['success'] === false || json['status'] === 0
}

function isWebPage({ body }: Answer): boolean {
  return /^\s*<(?:!doctype|html|head|body|script)\b/i.test(body)
}

import * as oidc from 'openid-client'
import { Fault, messageOf } from '../errors.ts'
import type { MailProvider } from './providers.ts'

/**
 * What a rejection by the provider means for the person.
 * - `consent`: they must allow the access, or allow it again
 * - `client`: the operator must change the registration or the settings of this service
 * - `later`: the provider cannot answer now
 */
export type OAuthProblem = {
  kind: 'consent' | 'client' | 'later'
  message: string
  /** An administrator of the person’s organization must approve this service. */
  needsApproval?: true
  /** The provider rejects the client of this service for everybody. */
  isClientRejected?: true
}

type Rejection = { error: string; description: string }

/** The rejection of a provider as an error of this service. */
export class OAuthRejected extends Error {
  readonly problem: OAuthProblem

  constructor(problem: OAuthProblem, cause?: unknown) {
    super(problem.message, { cause })
    this.name = 'OAuthRejected'
    this.problem = problem
  }
}

/** Converts a rejection to a fault; other errors stay as they are. */
export function toFault(error: unknown): unknown {
  if (!(error instanceof OAuthRejected)) return error
  const { kind, message } = error.problem
  const code = kind === 'later' ? 'upstream_unreachable' : 'upstream_rejected'
  return new Fault(code, message, { cause: error })
}

/**
 * Converts errors of openid-client.
 * @returns OAuthRejected, or a Fault where the provider was not reached
 */
export function describeFailure(error: unknown, provider: MailProvider): OAuthRejected | Fault {
  if (error instanceof OAuthRejected || error instanceof Fault) return error
  // The library wraps what its fetch threw.
  const { cause } = error as { cause?: unknown }
  if (cause instanceof Fault) return cause
  if (error instanceof oidc.ResponseBodyError && isBusy(error.status))
    return new OAuthRejected(unavailable(provider), error)
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError)
    return new OAuthRejected(
      explainRejection(
        { error: error.error, description: error.error_description ?? '' },
        provider,
      ),
      error,
    )
  const { isAway, isForeign } = judgeUnusable(error)
  if (isAway) return new OAuthRejected(unavailable(provider))
  // Not with the error as the cause: it may hold the response, with tokens, which would be logged.
  return new OAuthRejected({
    kind: isForeign ? 'later' : 'client',
    message: `${provider.name} sent a response that cannot be used: ${messageOf(error)}.`,
  })
}

/** The rejection of a code that a person pasted: providers accept it for a minute, and once. */
export function explainLateCode(
  error: unknown,
  { name, loopbackUri }: MailProvider,
): OAuthRejected | undefined {
  const isLate = error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant'
  if (!isLate || loopbackUri === undefined) return undefined
  const message = `${name} no longer accepts this address: it is valid for about a minute, and once. Start again, and paste the address at once.`
  return new OAuthRejected({ kind: 'consent', message })
}

/** The provider is overloaded or down, whatever it says of the request. */
export const isBusy = (status: number) => status === 408 || status === 429 || status >= 500

/** Codes of a response that has no JSON, or another status without an error of OAuth. */
const FOREIGN = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']

/** @returns `isForeign` for what something between here and the provider may have sent, such as a page */
function judgeUnusable(error: unknown): { isAway: boolean; isForeign: boolean } {
  const { code = '', cause } = error as { code?: string; cause?: { status?: number } }
  const isForeign = FOREIGN.includes(code)
  return { isAway: isForeign && isBusy(cause?.status ?? 0), isForeign }
}

const unavailable = ({ name }: MailProvider): OAuthProblem => ({
  ...UNAVAILABLE,
  message: UNAVAILABLE.message.replace('{provider}', name),
})

/**
 * Explains an error of RFC 6749 or of OpenID Connect. Where Microsoft adds a number (AADSTS…) to
 * the description, that is more specific. An unknown error ends nothing: the permission has ended
 * only where the provider says so.
 */
export function explainRejection(
  { error, description }: Rejection,
  provider: MailProvider,
): OAuthProblem {
  const { number, problem } = knownProblem({ error, description })
  const code = number === '' ? plain(error) : `AADSTS${number}`
  // Nobody here can correct a client of the provider itself.
  if (provider.loopbackUri !== undefined && problem?.kind === 'client')
    return {
      kind: 'client',
      message: `${provider.name} rejects sign-ins for ${provider.subject ?? 'this'} from this service (${code}).`,
    }
  if (problem === undefined)
    return { kind: 'later', message: `${provider.name} rejected the sign-in (${code}).` }
  return {
    ...problem,
    message: `${problem.message.replaceAll('{provider}', provider.name).replaceAll('{subject}', provider.subject ?? 'the mailbox')} (${code})`,
  }
}

function knownProblem({ error, description }: Rejection) {
  const number = /AADSTS(\d+)/.exec(description)?.[1] ?? ''
  return { number, problem: MICROSOFT[number] ?? ERRORS[error] }
}

/** Whether a rejection is known to be temporary. */
export const isTemporary = (rejection: Rejection) =>
  knownProblem(rejection).problem?.kind === 'later'

/** Only short codes are shown: a description could contain anything. */
function plain(text: string): string {
  return text.replace(/[^\w.:-]/g, '').slice(0, 80)
}

const ENDED: OAuthProblem = {
  kind: 'consent',
  message:
    'The permission at {provider} has ended: it was revoked, was unused for too long, or the password changed. Sign in again.',
}
const UNAPPROVED: OAuthProblem = {
  kind: 'consent',
  needsApproval: true,
  message:
    'Your administrator at {provider} has not approved this service. Ask them to approve it, then sign in again.',
}
const STRICTER: OAuthProblem = {
  kind: 'consent',
  message:
    '{provider} requires more proof (multi-factor authentication, Conditional Access). Sign in again in a browser, on a device that your organization allows.',
}
const WRONG_CLIENT: OAuthProblem = {
  kind: 'client',
  isClientRejected: true,
  message:
    '{provider} rejects the client ID, secret or certificate of this service: it is wrong, expired or disabled. An administrator of this service must correct it (Administration, Mail providers).',
}
const BUSY: OAuthProblem = {
  kind: 'later',
  message: '{provider} allows no more requests at the moment. Try again later.',
}
const UNAVAILABLE: OAuthProblem = {
  kind: 'later',
  message: '{provider} cannot answer at the moment. Try again later.',
}
const registration = (what: string): OAuthProblem => ({
  kind: 'client',
  message: `The registration of this service at {provider} is not complete: ${what}. The operator must correct it: /docs/guide/mail-providers.html has the steps.`,
})

const ERRORS: Record<string, OAuthProblem> = {
  access_denied: {
    kind: 'consent',
    message: 'The access to {subject} was not allowed at {provider}. Sign in again and allow it.',
  },
  invalid_grant: ENDED,
  expired_token: { kind: 'consent', message: 'The code has expired. Start again.' },
  consent_required: UNAPPROVED,
  interaction_required: STRICTER,
  login_required: ENDED,
  account_selection_required: ENDED,
  admin_policy_enforced: UNAPPROVED,
  org_internal: registration('it is for members of another organization only'),
  invalid_client: WRONG_CLIENT,
  deleted_client: WRONG_CLIENT,
  disabled_client: WRONG_CLIENT,
  unauthorized_client: registration('it may not use this kind of sign-in'),
  invalid_scope: registration('the scope for {subject} is missing'),
  invalid_request: registration('the request was rejected'),
  redirect_uri_mismatch: registration('the redirect URI is missing or differs'),
  unsupported_response_type: registration('it does not allow authorization codes'),
  temporarily_unavailable: BUSY,
  server_error: BUSY,
  slow_down: BUSY,
}

/** Numbers of Microsoft Entra (“AADSTS error codes”). */
const MICROSOFT: Record<string, OAuthProblem> = {
  50173: ENDED,
  50132: ENDED,
  50133: ENDED,
  70008: ENDED,
  700082: ENDED,
  700084: ENDED,
  65001: UNAPPROVED,
  90094: UNAPPROVED,
  90095: UNAPPROVED,
  65004: {
    kind: 'consent',
    message: 'The access to the mailbox was not allowed at {provider}. Sign in again and allow it.',
  },
  50105: {
    kind: 'consent',
    message:
      'Your administrator at {provider} has not assigned you to this service. Ask them to assign you, then sign in again.',
  },
  50020: {
    kind: 'consent',
    message:
      'This {provider} account belongs to another organization. Sign in with an account of the organization that this service is for.',
  },
  50074: STRICTER,
  50076: STRICTER,
  50079: STRICTER,
  50131: STRICTER,
  53000: STRICTER,
  53003: STRICTER,
  530032: STRICTER,
  7000215: WRONG_CLIENT,
  7000222: WRONG_CLIENT,
  7000112: WRONG_CLIENT,
  700027: WRONG_CLIENT,
  700024: registration('the clock of this service is wrong'),
  700016: registration('its client ID is unknown in this tenant'),
  50011: registration('the redirect URI is missing or differs'),
  50194: registration('it is for one tenant, which OAUTH_MICROSOFT_TENANT must name'),
  70011: registration('the scope for IMAP is missing'),
  7000218: registration('the client secret or certificate is missing'),
  50196: BUSY,
  50053: BUSY,
  90055: BUSY,
  // Errors that Microsoft calls retryable, transient or throttling, of it or of a tenant’s own servers.
  50033: UNAVAILABLE,
  50087: UNAVAILABLE,
  50166: UNAVAILABLE,
  70012: UNAVAILABLE,
  80001: UNAVAILABLE,
  80002: UNAVAILABLE,
  90006: UNAVAILABLE,
  90012: UNAVAILABLE,
  90024: UNAVAILABLE,
  90033: UNAVAILABLE,
}

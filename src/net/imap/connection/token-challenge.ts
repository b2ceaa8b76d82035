import { sanitise } from './refusals.ts'

/** What a rejected token means: its scope is insufficient, or anything else. */
const SENTENCES: Record<string, string> = {
  invalid_token: 'it has expired or was revoked, or it belongs to another user',
  insufficient_scope: 'it lacks the permission for IMAP',
  invalid_request: 'the server could not read it',
  400: 'it has expired, lacks the permission for IMAP, or belongs to another user',
  401: 'it has expired or was revoked, or it belongs to another user',
  403: 'the account or its administrator does not allow IMAP for this app',
}

/**
 * Explains the error challenge of OAUTHBEARER (RFC 7628, 3.2.2) or XOAUTH2: JSON with a `status`,
 * and often the `scope` that the server wants.
 * @returns the end of a sentence; null where the challenge says nothing known
 */
export function describeChallenge(challenge: unknown): string | null {
  if (typeof challenge !== 'object' || challenge === null) return null
  const { status, scope } = challenge as { status?: unknown; scope?: unknown }
  const meaning = SENTENCES[String(status)]
  if (meaning === undefined) return null
  const wanted = typeof scope === 'string' ? sanitise(scope) : ''
  return wanted === '' ? meaning : `${meaning} (required scope: ${wanted})`
}

import type { ByteString } from '../folders/mailbox-name.ts'
import { IMAP_LIMITS } from '../limits.ts'

/**
 * The meaning of a rejected command.
 * - `throttled`: retry the same message later, after `retryAfterMs` if the server gave it
 * - `busy`: in use or unavailable at the moment; retry later
 * - `too_many_connections`: open fewer connections
 * - `over_quota`: the mailbox is full until its owner frees space
 * - `too_large`: the message will never fit
 * - `expunged`: another client expunged some of the messages; list the remaining ones (RFC 2180, 4)
 * - `no_such_mailbox`, `already_exists`, `not_permitted`, `sign_in`: as named
 * - `other`: this command failed for the reason in `text`
 */
type RefusalKind =
  | 'throttled'
  | 'busy'
  | 'too_many_connections'
  | 'over_quota'
  | 'too_large'
  | 'expunged'
  | 'no_such_mailbox'
  | 'already_exists'
  | 'not_permitted'
  | 'sign_in'
  | 'other'

/**
 * A NO, BAD or BYE: the server’s text (sanitized, shortened), its response code in capitals, and
 * its meaning.
 */
export type Refusal = {
  status: 'NO' | 'BAD' | 'BYE'
  responseCode: string | null
  text: string
  kind: RefusalKind
  /** Milliseconds that the server asked to wait. */
  retryAfterMs: number | null
}

/** A command that the server rejected. The connection is still usable. */
export class ImapRefused extends Error {
  readonly refusal: Refusal

  constructor(command: string, refusal: Refusal) {
    super(`${command} was refused: ${describeRefusal(refusal)}`)
    this.name = 'ImapRefused'
    this.refusal = refusal
  }
}

/** Where a connection was lost: the oldest command without a response, if it was about a mailbox. */
type LossPlace = { wire: object; mailbox: ByteString | null }

/** The connection is lost: closed, timed out, ended by BYE, or not IMAP. */
export class ImapLost extends Error {
  readonly reason: 'closed' | 'bye' | 'timeout' | 'protocol' | 'ours'
  /** Set by the connection. */
  at: LossPlace | null = null
  /** The refusal in the BYE, if there was one. */
  readonly refusal: Refusal | null

  constructor(reason: ImapLost['reason'], message: string, refusal: Refusal | null = null) {
    super(message)
    this.name = 'ImapLost'
    this.reason = reason
    this.refusal = refusal
  }
}

const KIND_BY_CODE: Record<string, RefusalKind> = {
  THROTTLED: 'throttled',
  LIMIT: 'throttled',
  INUSE: 'busy',
  UNAVAILABLE: 'busy',
  SERVERBUG: 'other',
  OVERQUOTA: 'over_quota',
  TOOBIG: 'too_large',
  APPENDLIMIT: 'too_large',
  EXPUNGEISSUED: 'expunged',
  NONEXISTENT: 'no_such_mailbox',
  TRYCREATE: 'no_such_mailbox',
  ALREADYEXISTS: 'already_exists',
  NOPERM: 'not_permitted',
  READ_ONLY: 'not_permitted',
  AUTHENTICATIONFAILED: 'sign_in',
  AUTHORIZATIONFAILED: 'sign_in',
  EXPIRED: 'sign_in',
}

/**
 * Texts that are more specific than the code beside them, or have no code. The first match wins.
 */
const KIND_BY_TEXT: readonly (readonly [RegExp, RefusalKind])[] = [
  // `[LIMIT]` stands for any limit, including the number of keywords (RFC 9051, 7.1).
  [/\b(?:keyword|flag)s?\b/i, 'other'],
  // `Request is throttled. Suggested Backoff Time: 299609 milliseconds` (Exchange Online).
  [/throttl|backoff time|rate limit|too many (?:requests|commands)|bandwidth limit/i, 'throttled'],
  [
    /(?:too many|maximum number of|max\w*)(?: \w+){0,3} connections|connection limit/i,
    'too_many_connections',
  ],
  // Courier sends `[ALERT] You exceeded your mail quota.`
  [
    /over ?quota|quota (?:exceeded|full)|exceeded (?:your )?(?:mail )?quota|mailbox (?:is )?full/i,
    'over_quota',
  ],
  [/too (?:big|large)|maximum (?:message )?size|size limit|exceeds? .*size/i, 'too_large'],
  [/already exists/i, 'already_exists'],
  // Dovecot, Exchange, James and others use the text of RFC 2180 (4.1.2); mox and Cyrus have their
  // own.
  [/messages? (?:no longer exists?|(?:was|were|have been|has been) expunged)/i, 'expunged'],
  [
    /(?:mailbox|folder) (?:doesn.t|does not) exist|no such (?:mailbox|folder)|unknown mailbox/i,
    'no_such_mailbox',
  ],
  // Dovecot greets with `BYE Shutting down` while it is restarted.
  [/try again|temporar|in use|unavailable|internal error occurred|shutting down/i, 'busy'],
]

/** Classifies a NO, BAD or BYE by its code and its text. */
export function classifyRefusal(
  status: Refusal['status'],
  responseCode: string | null,
  words: string,
): Refusal {
  const text = sanitise(words)
  const byWords = KIND_BY_TEXT.find(([pattern]) => pattern.test(text))?.[1]
  const byCode = responseCode === null ? undefined : KIND_BY_CODE[responseCode.replace('-', '_')]
  // Dovecot sends `[UNAVAILABLE] Maximum number of connections …` and `[LIMIT] Mail size is larger
  // than the maximum size allowed …`: here the text is more specific than the code.
  const isVague = byCode === undefined || byCode === 'busy' || responseCode === 'LIMIT'
  const kind = isVague ? (byWords ?? byCode ?? 'other') : byCode
  return { status, responseCode, text, kind, retryAfterMs: backoffOf(text) }
}

/** Whether the same command may succeed later, unchanged. */
export function isTemporary({ kind }: Refusal): boolean {
  return kind === 'throttled' || kind === 'busy' || kind === 'too_many_connections'
}

/**
 * Whether the server asks for fewer requests, of the whole account. `busy` alone may be about one
 * message or folder, for ever (Yahoo “Server error - Please try again later”).
 */
export function isThrottling({ kind, retryAfterMs }: Refusal): boolean {
  return kind === 'throttled' || kind === 'too_many_connections' || retryAfterMs !== null
}

/** Formats the server’s own text with its code. */
export function describeRefusal({ status, responseCode, text }: Refusal): string {
  return [status, responseCode && `[${responseCode}]`, text].filter(Boolean).join(' ')
}

/**
 * Reduces text of a server to one short line of printable characters, without control or
 * bidirectional characters.
 */
export function sanitise(words: string): string {
  const line = words
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
  return line.length > IMAP_LIMITS.serverTextChars
    ? `${line.slice(0, IMAP_LIMITS.serverTextChars - 1)}…`
    : line
}

function backoffOf(text: string): number | null {
  const [, amount, unit = ''] =
    /backoff time:? *(\d{1,9}) *(milliseconds|ms|seconds)?/i.exec(text) ?? []
  if (amount === undefined) return null
  return Number(amount) * (unit.toLowerCase() === 'seconds' ? 1000 : 1)
}

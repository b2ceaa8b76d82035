import type { Kysely } from 'kysely'
import type { OutgoingMail, Relay } from '../../net/smtp.ts'
import type { DB } from '../../store/tables.ts'
import { composeDigest } from '../content/compose.ts'
import { gatherFacts, type DigestRequest, type Readers } from '../content/gather.ts'
import { renderHtml } from '../render/html.ts'
import { renderText } from '../render/render-text.ts'
import type { Member } from '../digest-subscriptions.sql.ts'
import { unsubscribeToken } from '../unsubscribe/unsubscribe-token.ts'

export type DigestDeps = {
  db: Kysely<DB>
  readers: Readers
  /** Null where this service sends no email. */
  relay: Relay | null
  secretKey: string
  /** Signed the links in older emails; undefined where the key was not rotated. */
  previousKey: string | undefined
  /** Public URL of the service. */
  baseUrl: string
}

export type DigestEmail = { subject: string; text: string; html: string }

/**
 * Composes a digest as an email.
 * @param unsubscribeUrl null in a preview
 */
export async function composeDigestEmail(
  deps: Pick<DigestDeps, 'db' | 'readers' | 'baseUrl'>,
  request: DigestRequest,
  email: string,
  unsubscribeUrl: string | null,
): Promise<DigestEmail> {
  const { baseUrl } = deps
  const facts = await gatherFacts(deps, request)
  const digest = composeDigest(facts, { baseUrl, email, unsubscribeUrl })
  return {
    subject: digest.subject,
    text: renderText(digest, baseUrl),
    html: renderHtml(digest, baseUrl),
  }
}

export function unsubscribeUrlOf(
  { secretKey, baseUrl }: Pick<DigestDeps, 'secretKey' | 'baseUrl'>,
  member: Member,
): string {
  return `${baseUrl}/digest/unsubscribe/${unsubscribeToken.create(secretKey, member)}`
}

/** RFC 3834: prevents automatic replies. */
const NO_REPLIES = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

/**
 * Headers of a digest. Unsubscribing with one click (RFC 8058) requires HTTPS, and there is no
 * mailto address, because no mailbox of the service would read it.
 */
export function digestHeaders(
  unsubscribeUrl: string,
  { workspaceId, baseUrl }: { workspaceId: string; baseUrl: string },
): NonNullable<OutgoingMail['headers']> {
  return {
    ...NO_REPLIES,
    Precedence: 'list',
    'List-Id': `Portreeve digest <${workspaceId}.digest.${new URL(baseUrl).hostname}>`,
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    ...(unsubscribeUrl.startsWith('https:') && {
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
  }
}

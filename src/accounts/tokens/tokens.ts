import { hash, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { notifyAccountChange } from '../account-changes.ts'
import { isPlainText, LABEL_LENGTH } from '../shapes.ts'
import { countTokens, deleteToken, insertToken, type TokenRow } from '../store.ts'

/**
 * `Authorization: Bearer prv_…` (RFC 6750; the scheme in any case): 256 random bits in base64url.
 */
const BEARER = /^Bearer +(prv_[A-Za-z0-9_-]{43})$/i

/** Limits the number of rows that one account can store. */
const TOKENS_PER_ACCOUNT = 100

/** The API token in an Authorization header; null for anything else. */
export function tokenIn(authorization: string): string | null {
  return BEARER.exec(authorization)?.[1] ?? null
}

/**
 * The stored hash of a token. A slow hash protects guessable secrets; a random token does not need
 * one.
 */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/**
 * Creates an API token.
 * @returns the row and the token, which is not stored
 * @throws Fault `conflict` when the account has too many, `invalid_request`
 */
export async function issueToken(
  db: Db,
  { accountId, workspaceId }: { accountId: string; workspaceId: string },
  label = '',
): Promise<TokenRow & { token: string }> {
  if (!isPlainText(label, LABEL_LENGTH)) {
    throw new Fault(
      'invalid_request',
      `A label can have up to ${LABEL_LENGTH} characters and no control characters.`,
    )
  }
  if ((await countTokens(db, accountId)) >= TOKENS_PER_ACCOUNT) {
    throw new Fault(
      'conflict',
      `An account can have up to ${TOKENS_PER_ACCOUNT} tokens. Revoke one that is no longer used.`,
    )
  }
  const token = `prv_${randomBytes(32).toString('base64url')}`
  const row = await insertToken(db, {
    accountId,
    workspaceId,
    label,
    hash: hashToken(token),
    lastFour: token.slice(-4),
  })
  await notifyChange(db, accountId, 'account')
  return { ...row, token }
}

/**
 * Revokes a token in every instance.
 * @throws Fault `not_found` also for a token of another account or workspace
 */
export async function revokeToken(
  db: Kysely<DB>,
  owner: { accountId: string; workspaceId: string },
  id: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await deleteToken(trx, owner, id))) throw new Fault('not_found', 'Token not found.')
    await notifyAccountChange(trx, owner.accountId)
  })
}

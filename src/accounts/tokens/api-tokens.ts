import { sql, type Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { isShownName } from '../../http/shown-name.ts'
import { SCOPES, type Scope } from '../../http/access.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { notifyAccountChange } from '../account-changes.ts'
import { LABEL_LENGTH } from '../shapes.ts'
import { createToken, hashToken } from './format.ts'
import { TOKEN_LIFETIMES } from './lifetimes.ts'
import {
  countActiveTokens,
  deleteToken,
  insertToken,
  lockMembership,
  type DeletedToken,
  type TokenRow,
} from './api-tokens.sql.ts'

/** Limits the number of rows that one workspace can store. */
export const TOKENS_PER_WORKSPACE = 100

/** What a new token may do, and for how long. */
export type TokenLimits = {
  /** By default everything that its creator’s role allows. */
  scopes?: Scope[] | null | undefined
  /** By default until it is revoked. */
  expiresInDays?: number | undefined
}

/**
 * Creates an API token, which acts for an account within one workspace.
 * @returns the row and the token, which is not stored
 * @throws Fault `conflict` when the workspace has too many, `not_a_member`, `invalid_request`
 */
export async function issueToken(
  db: Kysely<DB>,
  owner: { accountId: string; workspaceId: string },
  label = '',
  { scopes = null, expiresInDays }: TokenLimits = {},
): Promise<TokenRow & { token: string }> {
  requireLabel(label)
  const token = createToken()
  const values = {
    ...owner,
    label,
    scopes: scopes && requireScopes(scopes),
    expiresAt: expiresInDays === undefined ? null : expiryAfter(requireLifetime(expiresInDays)),
    hash: hashToken(token),
    lastFour: token.slice(-4),
  }
  const row = await db.transaction().execute(async (trx) => {
    await requireFreePlace(trx, owner)
    await notifyChange(trx, owner.accountId, 'account')
    return insertToken(trx, values)
  })
  return { ...row, token }
}

/** Concurrent requests wait for the lock, so that they cannot exceed the limit together. */
async function requireFreePlace(
  db: Db,
  owner: { accountId: string; workspaceId: string },
): Promise<void> {
  if (!(await lockMembership(db, owner)))
    throw new Fault('not_a_member', 'Only members of a workspace can have tokens for it.')
  if ((await countActiveTokens(db, owner.workspaceId)) >= TOKENS_PER_WORKSPACE) {
    throw new Fault(
      'conflict',
      `A workspace can have up to ${TOKENS_PER_WORKSPACE} tokens. Revoke one that is no longer used.`,
    )
  }
}

/**
 * Revokes a token in every instance.
 * @param within the workspace of the token, and its creator where only their own tokens may be revoked
 * @throws Fault `not_found` also for any other token
 */
export async function revokeToken(
  db: Kysely<DB>,
  id: string,
  within: { workspaceId?: string; accountId?: string } = {},
): Promise<DeletedToken> {
  return db.transaction().execute(async (trx) => {
    const token = await deleteToken(trx, id, within)
    if (!token) throw new Fault('not_found', 'Token not found.')
    await notifyAccountChange(trx, token.accountId)
    return token
  })
}

function requireLabel(label: string): void {
  if (isShownName(label, LABEL_LENGTH)) return
  throw new Fault(
    'invalid_request',
    `A label can have up to ${LABEL_LENGTH} characters and no control or other invisible characters.`,
  )
}

/** The scopes in their usual order, each once. */
function requireScopes(scopes: string[]): Scope[] {
  const unknown = scopes.find((scope) => !SCOPES.includes(scope as Scope))
  if (unknown !== undefined)
    throw new Fault(
      'invalid_request',
      `“${unknown}” is not a scope. Scopes are ${SCOPES.join(', ')}.`,
    )
  if (scopes.length === 0) throw new Fault('invalid_request', 'A token needs at least one scope.')
  return SCOPES.filter((scope) => scopes.includes(scope))
}

function requireLifetime(days: number): number {
  if ((TOKEN_LIFETIMES as readonly number[]).includes(days)) return days
  throw new Fault(
    'invalid_request',
    `A token can expire in ${TOKEN_LIFETIMES.join(', ')} days, or never.`,
  )
}

/** By the database’s clock, which all instances share. */
const expiryAfter = (days: number) => sql<Date>`now() + make_interval(hours => ${days * 24}::int)`

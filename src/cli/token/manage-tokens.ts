import type { Kysely } from 'kysely'
import { requireAccount, requireFirstWorkspace } from '../../accounts/accounts.ts'
import { insertAuditEntries } from '../../accounts/audit/audit-log.sql.ts'
import { listTokens, type ListedToken } from '../../accounts/tokens/api-tokens.sql.ts'
import { issueToken, revokeToken } from '../../accounts/tokens/api-tokens.ts'
import { Fault } from '../../errors.ts'
import type { Scope } from '../../http/access.ts'
import type { DB } from '../../store/tables.ts'
import { isUuid } from '../../store/uuid.ts'
import { UsageError } from '../command.ts'
import { withDatabase } from '../database-access.ts'
import { printResult } from '../print-result.ts'

type OwnerFlags = { email: string; workspace: string | undefined }
type NewTokenFlags = OwnerFlags & {
  label: string | undefined
  scope: Scope[]
  expires: string | undefined
}

export async function createToken(
  { label, scope, expires, ...owner }: NewTokenFlags,
  json: boolean,
): Promise<number> {
  const limits = {
    scopes: scope.length === 0 ? undefined : scope,
    expiresInDays: expires === undefined ? undefined : Number(expires),
  }
  const {
    lastFour,
    lastUsedAt: _,
    ...issued
  } = await withDatabase(async (db) => {
    const place = await requireOwner(db, owner)
    const token = await issueToken(db, place, label, limits)
    const details = {
      email: owner.email,
      label: token.label,
      id: token.id,
      lastFour: token.lastFour,
    }
    await recordAudit(db, place.workspaceId, 'Create an API token', 'create', details)
    return token
  })
  console.log(json ? JSON.stringify({ success: true, lastFour, ...issued }) : issued.token)
  return 0
}

export async function listOwnTokens(owner: OwnerFlags, json: boolean): Promise<number> {
  const tokens = await withDatabase(async (db) => {
    const { accountId, workspaceId } = await requireOwner(db, owner)
    return listTokens(db, workspaceId, accountId)
  })
  const text = tokens.length === 0 ? 'No tokens yet.' : tokens.map(describeToken).join('\n')
  return printResult(tokens, json, text)
}

export async function revokeOne(id: string, json: boolean): Promise<number> {
  if (!isUuid(id)) throw new Fault('not_found', 'Token not found.')
  const { label, lastFour } = await withDatabase(async (db) => {
    const { workspaceId, ...token } = await revokeToken(db, id)
    const details = { id, label: token.label, lastFour: token.lastFour }
    await recordAudit(db, workspaceId, 'Revoke an API token', 'revoke', details)
    return token
  })
  return printResult({ id, label, lastFour }, json, `Revoked token ${id} (…${lastFour})`)
}

/** Membership is checked where the token is created. */
async function requireOwner(db: Kysely<DB>, { email, workspace }: OwnerFlags) {
  if (workspace === undefined) return requireFirstWorkspace(db, email)
  if (!isUuid(workspace))
    throw new UsageError('--workspace needs the ID of a workspace.', 'portreeve workspace list')
  const { id: accountId } = await requireAccount(db, email)
  return { accountId, workspaceId: workspace.toLowerCase() }
}

function describeToken({ id, label, lastFour, scopes, expiresAt }: ListedToken): string {
  const expiry = expiresAt === null ? 'never expires' : `expires ${expiresAt.toISOString()}`
  return [id, `…${lastFour}`, scopes?.join(',') ?? 'all scopes', expiry, label].join('  ')
}

/** The audit log of the workspace: its admins see what the operator did. */
function recordAudit(
  db: Kysely<DB>,
  workspaceId: string,
  what: string,
  verb: string,
  details: Record<string, unknown>,
): Promise<void> {
  const who = { actorId: null, actorEmail: 'command line', token: null }
  return insertAuditEntries(db, [
    { ...who, workspaceId, what, route: `portreeve token ${verb}`, details },
  ])
}

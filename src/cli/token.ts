import { parseArgs } from 'node:util'
import type { Kysely } from 'kysely'
import { requireAccount, requireFirstWorkspace } from '../accounts/accounts.ts'
import { insertAuditEntries } from '../accounts/audit/store.ts'
import { TOKEN_LIFETIMES } from '../accounts/shapes.ts'
import { listTokens, type ListedToken } from '../accounts/tokens/store.ts'
import { issueToken, revokeToken } from '../accounts/tokens/tokens.ts'
import { Fault } from '../errors.ts'
import type { Scope } from '../http/access.ts'
import type { DB } from '../store/tables.ts'
import { UsageError, type CliCommand } from './command.ts'
import { withDatabase } from './database.ts'

const USAGE = `Usage: portreeve token create --email E [--label L] [--scope S …] [--expires DAYS] [--workspace W]
       portreeve token list --email E [--workspace W]
       portreeve token revoke ID

  create   create an API token for an account and print it on one line; it cannot be shown again
  list     list the API tokens of an account in a workspace, newest first
  revoke   revoke an API token; a running service rejects it at once

  --email E        email address of the account
  --label L        label, such as the purpose of the token
  --scope S        limit the token to a scope, such as dmarc:read or webhooks:write; several are allowed
  --expires DAYS   ${TOKEN_LIFETIMES.join(', ')} (default: never)
  --workspace W    id of a workspace of the account (default: its first one)
  --json           print JSON`

const VERBS: Record<string, (args: string[]) => Promise<number>> = { create, list, revoke }

export const tokenCommand: CliCommand = {
  name: 'token',
  usage: USAGE,
  async run([verb = '', ...args]) {
    const run = VERBS[verb]
    if (run) return run(args)
    const verbs = Object.keys(VERBS).join(', ')
    throw new UsageError(
      verb === ''
        ? `Subcommand missing: ${verbs}.`
        : `“token ${verb}” is not a command. Use ${verbs}.`,
    )
  },
}

async function create(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      email: { type: 'string' },
      label: { type: 'string' },
      scope: { type: 'string', multiple: true },
      expires: { type: 'string' },
      workspace: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { email, label, scope, expires, workspace, json } = values
  if (email === undefined) throw new UsageError('--email is required.')
  const limits = {
    scopes: scope as Scope[] | undefined,
    expiresInDays: expires === undefined ? undefined : Number(expires),
  }
  const {
    lastFour,
    lastUsedAt: _,
    ...issued
  } = await withDatabase(async (db) => {
    const owner = await requireOwner(db, email, workspace)
    const token = await issueToken(db, owner, label, limits)
    const details = { email, label: token.label, id: token.id, lastFour: token.lastFour }
    await recordAudit(db, owner.workspaceId, 'Create an API token', 'create', details)
    return token
  })
  console.log(json ? JSON.stringify({ success: true, lastFour, ...issued }) : issued.token)
  return 0
}

async function list(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      email: { type: 'string' },
      workspace: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { email, workspace, json } = values
  if (email === undefined) throw new UsageError('--email is required.')
  const tokens = await withDatabase(async (db) => {
    const { accountId, workspaceId } = await requireOwner(db, email, workspace)
    return listTokens(db, workspaceId, accountId)
  })
  if (json) console.log(JSON.stringify({ success: true, data: tokens }))
  else for (const token of tokens) console.log(describe(token))
  return 0
}

async function revoke(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  })
  const [id] = positionals
  if (id === undefined || positionals.length > 1)
    throw new UsageError('Give the id of one token, from “token list”.')
  if (!UUID.test(id)) throw new Fault('not_found', 'Token not found.')
  const { label, lastFour } = await withDatabase(async (db) => {
    const { workspaceId, ...token } = await revokeToken(db, id)
    const details = { id, label: token.label, lastFour: token.lastFour }
    await recordAudit(db, workspaceId, 'Revoke an API token', 'revoke', details)
    return token
  })
  console.log(
    values.json
      ? JSON.stringify({ success: true, data: { id, label, lastFour } })
      : `Revoked token ${id} (…${lastFour})`,
  )
  return 0
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Membership is checked where the token is created. */
async function requireOwner(db: Kysely<DB>, email: string, workspace: string | undefined) {
  if (workspace === undefined) return requireFirstWorkspace(db, email)
  if (!UUID.test(workspace)) throw new UsageError('--workspace needs the id of a workspace.')
  const { id: accountId } = await requireAccount(db, email)
  return { accountId, workspaceId: workspace.toLowerCase() }
}

function describe({ id, label, lastFour, scopes, expiresAt }: ListedToken): string {
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

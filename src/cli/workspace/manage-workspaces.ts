import type { Kysely } from 'kysely'
import { requireAccount } from '../../accounts/accounts.ts'
import { createInvitation } from '../../accounts/workspaces/invitations/invitations.ts'
import { addMember, changeRole, removeMember } from '../../accounts/workspaces/members/members.ts'
import { listMembers } from '../../accounts/workspaces/members/members.sql.ts'
import { listInstalledWorkspaces } from '../../accounts/workspaces/workspaces.sql.ts'
import {
  createWorkspaceFor,
  deleteWorkspace,
  renameWorkspace,
  requireInstalled,
  restoreWorkspace,
  setWorkspacePlan,
} from '../../accounts/workspaces/workspaces.ts'
import { PLANS, type Config } from '../../config.ts'
import { Fault } from '../../errors.ts'
import { ROLES, type Role } from '../../http/access.ts'
import type { DB } from '../../store/tables.ts'
import { isUuid } from '../../store/uuid.ts'
import { recordCommand } from '../audit.ts'
import { UsageError } from '../command.ts'
import { withDatabase } from '../database-access.ts'
import { printResult } from '../print-result.ts'
import { sanitizeForTerminal, table } from '../terminal-text.ts'

type Result = { data: unknown; text: string }
type Verb = {
  /** The title of the audit entry; null for a command that only reads. */
  audit: string | null
  run: (db: Kysely<DB>, args: string[], config: Config) => Promise<Result>
}

const VERBS = {
  list: {
    audit: null,
    async run(db) {
      const data = await listInstalledWorkspaces(db)
      const rows = data.map(({ id, plan, members, owner, deleteAfter, name }) => [
        id,
        plan,
        String(members),
        owner?.email ?? '',
        deleteAfter ? 'deleted' : '',
        sanitizeForTerminal(name),
      ])
      return { data, text: rows.length === 0 ? 'No workspaces yet.' : table(rows, '') }
    },
  },
  create: {
    audit: 'Create a workspace',
    async run(db, [name = '', email = '', plan]) {
      const account = await requireAccount(db, email)
      const chosen = plan === undefined ? account.plan : parseOne('plan', PLANS, plan)
      const data = await createWorkspaceFor(db, account.id, { name, plan: chosen })
      return { data, text: `Created workspace ${data.id} for ${account.email}.` }
    },
  },
  rename: {
    audit: 'Rename a workspace',
    async run(db, [id = '', name = '']) {
      await renameWorkspace(db, id, name, null)
      return { data: await requireInstalled(db, id), text: `Renamed workspace ${id}.` }
    },
  },
  members: {
    audit: null,
    async run(db, [id = '']) {
      await requireInstalled(db, id)
      const data = await listMembers(db, id)
      const rows = data.map(({ email, role, joinedAt, name }) => [
        email,
        role,
        joinedAt.toISOString(),
        sanitizeForTerminal(name),
      ])
      return { data, text: rows.length === 0 ? 'No members.' : table(rows, '') }
    },
  },
  'add-member': {
    audit: 'Add a member to a workspace',
    async run(db, [workspaceId = '', email = '', role = 'member']) {
      const { id: accountId } = await requireAccount(db, email)
      const place = { workspaceId, accountId, role: parseRole(role) }
      const { member } = await addMember(db, place)
      return { data: member, text: `${member.email} is now a member with the role ${role}.` }
    },
  },
  'remove-member': {
    audit: 'Remove a member from a workspace',
    async run(db, [workspaceId = '', email = '']) {
      const { id: accountId } = await requireAccount(db, email)
      const { member } = await removeMember(db, { workspaceId, accountId }, null)
      return { data: member, text: `Removed ${member.email} and revoked the API tokens.` }
    },
  },
  'set-role': {
    audit: 'Change the role of a member',
    async run(db, [workspaceId = '', email = '', role = '']) {
      const { id: accountId } = await requireAccount(db, email)
      const place = { workspaceId, accountId }
      const { member } = await changeRole(db, place, parseRole(role), null)
      return { data: member, text: `${member.email} now has the role ${member.role}.` }
    },
  },
  'set-plan': {
    audit: 'Change the plan of a workspace',
    async run(db, [id = '', plan = '']) {
      const data = await setWorkspacePlan(db, id, parseOne('plan', PLANS, plan))
      return { data, text: `Workspace ${id} now has plan ${plan}.` }
    },
  },
  invite: {
    audit: 'Invite to a workspace',
    async run(db, [workspaceId = '', role = 'member', email], { BASE_URL: baseUrl }) {
      const { owner } = await requireInstalled(db, workspaceId)
      if (!owner) throw new Fault('conflict', 'This workspace has no owner who could invite.')
      const { accountId } = owner
      const request = { workspaceId, accountId, role: parseRole(role), email }
      const data = await createInvitation({ db, baseUrl }, request)
      return { data, text: data.url }
    },
  },
  delete: {
    audit: 'Delete a workspace',
    async run(db, [id = '', name = '']) {
      const deleteAfter = await deleteWorkspace(db, id, name, null)
      const text = `Deleted workspace ${id}. Its data is deleted after ${deleteAfter.toISOString()}.`
      return { data: { id, deleteAfter }, text }
    },
  },
  restore: {
    audit: 'Restore a deleted workspace',
    async run(db, [id = '']) {
      await restoreWorkspace(db, id, null)
      return { data: await requireInstalled(db, id), text: `Restored workspace ${id}.` }
    },
  },
} satisfies Record<string, Verb>

/** Runs a subcommand of `portreeve workspace` with its arguments, by their names. */
export async function runVerb(
  name: keyof typeof VERBS,
  given: Record<string, string>,
  json: boolean,
): Promise<number> {
  const { audit, run }: Verb = VERBS[name]
  if (given['id'] !== undefined) requireId(given['id'])
  const { data, text } = await withDatabase(async (db, config) => {
    const result = await run(db, Object.values(given), config)
    const route = `portreeve workspace ${name}`
    if (audit) await recordCommand(db, { what: audit, route, details: given })
    return result
  })
  return printResult(data, json, text)
}

function requireId(id: string): void {
  if (!isUuid(id))
    throw new UsageError(`“${id}” is not the ID of a workspace.`, 'portreeve workspace list')
}

const parseRole = (text: string): Role => parseOne('role', ROLES, text)

function parseOne<T extends string>(kind: string, names: readonly T[], text: string): T {
  const found = names.find((name) => name === text)
  if (found === undefined)
    throw new UsageError(`“${text}” is not a ${kind}. Use ${names.join(', ')}.`)
  return found
}

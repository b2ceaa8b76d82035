import { parseArgs } from 'node:util'
import type { Kysely } from 'kysely'
import { requireAccount } from '../accounts/accounts.ts'
import { insertAuditEntries } from '../accounts/audit/store.ts'
import { createInvitation } from '../accounts/workspaces/invitations/invitations.ts'
import { addMember, changeRole, removeMember } from '../accounts/workspaces/members/members.ts'
import { listMembers } from '../accounts/workspaces/members/store.ts'
import { listInstalledWorkspaces } from '../accounts/workspaces/store.ts'
import {
  createWorkspaceFor,
  deleteWorkspace,
  renameWorkspace,
  requireInstalled,
  restoreWorkspace,
  setWorkspacePlan,
} from '../accounts/workspaces/workspaces.ts'
import { PLANS, type Config } from '../config.ts'
import { Fault } from '../errors.ts'
import { ROLES, type Role } from '../http/access.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { UsageError, type CliCommand } from './command.ts'
import { withDatabase } from './database.ts'
import { sanitizeForTerminal, table } from './text.ts'

const USAGE = `Usage: portreeve workspace list
       portreeve workspace create NAME OWNER_EMAIL [PLAN]
       portreeve workspace rename ID NAME
       portreeve workspace members ID
       portreeve workspace add-member ID EMAIL [ROLE]
       portreeve workspace remove-member ID EMAIL
       portreeve workspace set-role ID EMAIL ROLE
       portreeve workspace set-plan ID PLAN
       portreeve workspace invite ID [ROLE] [EMAIL]
       portreeve workspace delete ID NAME
       portreeve workspace restore ID

  list           list all workspaces with plan, members and owner, oldest first
  create         create a workspace for an account, beyond the limit of its plan
  rename         change the name of a workspace
  members        list the members of a workspace
  add-member     make an account a member without an invitation
  remove-member  remove a member and revoke the API tokens in this workspace
  set-role       change the role of a member; a running service applies it at once
  set-plan       change the plan of a workspace
  invite         print an invitation link in the name of the first owner; no email is sent
  delete         close a workspace; its data is deleted after 7 days
  restore        restore a deleted workspace within 7 days

  PLAN    ${PLANS.join(', ')} (default: the plan of the account)
  ROLE    ${ROLES.join(', ')} (default: member)
  --json  print JSON`

type Result = { data: unknown; text: string }
type Verb = {
  /** The title of the audit entry; null for a command that only reads. */
  audit: string | null
  /** Names of the arguments; optional ones end with a question mark. */
  takes: string[]
  run: (db: Kysely<DB>, args: string[], config: Config) => Promise<Result>
}

const VERBS: Record<string, Verb> = {
  list: {
    audit: null,
    takes: [],
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
    takes: ['NAME', 'OWNER_EMAIL', 'PLAN?'],
    async run(db, [name = '', email = '', plan]) {
      const account = await requireAccount(db, email)
      const chosen = plan === undefined ? account.plan : parseOne('plan', PLANS, plan)
      const data = await createWorkspaceFor(db, account.id, { name, plan: chosen })
      return { data, text: `Created workspace ${data.id} for ${account.email}.` }
    },
  },
  rename: {
    audit: 'Rename a workspace',
    takes: ['ID', 'NAME'],
    async run(db, [id = '', name = '']) {
      await renameWorkspace(db, id, name, null)
      return { data: await requireInstalled(db, id), text: `Renamed workspace ${id}.` }
    },
  },
  members: {
    audit: null,
    takes: ['ID'],
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
    takes: ['ID', 'EMAIL', 'ROLE?'],
    async run(db, [workspaceId = '', email = '', role = 'member']) {
      const { id: accountId } = await requireAccount(db, email)
      const place = { workspaceId, accountId, role: parseRole(role) }
      const { member } = await addMember(db, place)
      return { data: member, text: `${member.email} is now a member with the role ${role}.` }
    },
  },
  'remove-member': {
    audit: 'Remove a member from a workspace',
    takes: ['ID', 'EMAIL'],
    async run(db, [workspaceId = '', email = '']) {
      const { id: accountId } = await requireAccount(db, email)
      const { member } = await removeMember(db, { workspaceId, accountId }, null)
      return { data: member, text: `Removed ${member.email} and revoked the API tokens.` }
    },
  },
  'set-role': {
    audit: 'Change the role of a member',
    takes: ['ID', 'EMAIL', 'ROLE'],
    async run(db, [workspaceId = '', email = '', role = '']) {
      const { id: accountId } = await requireAccount(db, email)
      const place = { workspaceId, accountId }
      const { member } = await changeRole(db, place, parseRole(role), null)
      return { data: member, text: `${member.email} now has the role ${member.role}.` }
    },
  },
  'set-plan': {
    audit: 'Change the plan of a workspace',
    takes: ['ID', 'PLAN'],
    async run(db, [id = '', plan = '']) {
      const data = await setWorkspacePlan(db, id, parseOne('plan', PLANS, plan))
      return { data, text: `Workspace ${id} now has plan ${plan}.` }
    },
  },
  invite: {
    audit: 'Invite to a workspace',
    takes: ['ID', 'ROLE?', 'EMAIL?'],
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
    takes: ['ID', 'NAME'],
    async run(db, [id = '', name = '']) {
      const deleteAfter = await deleteWorkspace(db, id, name, null)
      const text = `Deleted workspace ${id}. Its data is deleted after ${deleteAfter.toISOString()}.`
      return { data: { id, deleteAfter }, text }
    },
  },
  restore: {
    audit: 'Restore a deleted workspace',
    takes: ['ID'],
    async run(db, [id = '']) {
      await restoreWorkspace(db, id, null)
      return { data: await requireInstalled(db, id), text: `Restored workspace ${id}.` }
    },
  },
}

export const workspaceCommand: CliCommand = {
  name: 'workspace',
  usage: USAGE,
  async run([name = '', ...args]) {
    const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
    if (!verb) {
      const names = Object.keys(VERBS).join(', ')
      throw new UsageError(
        name === ''
          ? `Subcommand missing: ${names}.`
          : `“workspace ${name}” is not a command. Use ${names}.`,
      )
    }
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false } },
    })
    requireArguments(verb, positionals)
    const { data, text } = await withDatabase(async (db, config) => {
      const result = await verb.run(db, positionals, config)
      if (verb.audit) await recordAudit(db, name, verb, positionals)
      return result
    })
    console.log(values.json ? JSON.stringify({ success: true, data }) : text)
    return 0
  },
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function requireArguments({ takes }: Verb, given: string[]): void {
  const needed = takes.filter((name) => !name.endsWith('?'))
  if (given.length < needed.length || given.length > takes.length)
    throw new UsageError(
      takes.length === 0
        ? 'This takes no arguments.'
        : `Give ${takes.join(' ').replaceAll('?', '')}.`,
    )
  if (takes[0] === 'ID' && !UUID.test(given[0] ?? ''))
    throw new UsageError(`“${given[0]}” is not the ID of a workspace. List them: workspace list.`)
}

/** The audit log cannot name the actor, as with `portreeve user`. */
async function recordAudit(
  db: Kysely<DB>,
  name: string,
  { audit, takes }: Verb,
  given: string[],
): Promise<void> {
  const details = Object.fromEntries(
    given.map((value, n) => [(takes[n] ?? '').replace('?', '').toLowerCase(), value]),
  )
  const entry = {
    workspaceId: null,
    actorId: null,
    actorEmail: 'command line',
    token: null,
    what: audit ?? '',
    route: `portreeve workspace ${name}`,
    details,
  }
  await insertAuditEntries(db, [entry])
  await notifyChange(db, ADMINISTRATORS, 'administration')
}

const parseRole = (text: string): Role => parseOne('role', ROLES, text)

function parseOne<T extends string>(kind: string, names: readonly T[], text: string): T {
  const found = names.find((name) => name === text)
  if (found === undefined)
    throw new UsageError(`“${text}” is not a ${kind}. Use ${names.join(', ')}.`)
  return found
}

import * as consume from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { Kysely } from 'kysely'
import { createAccount, setPassword, setPlan } from '../accounts/accounts.ts'
import { hasAccounts, insertAuditEntry, listAccounts, type AccountRow } from '../accounts/store.ts'
import { PLANS, type Config, type Plan } from '../config.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { UsageError, type CliCommand } from './command.ts'
import { withDatabase } from './database.ts'
import { table } from './text.ts'

const USAGE = `Usage: portreeve user create --email E --password-stdin [--name N] [--plan P] [--admin]
       portreeve user list
       portreeve user set-plan EMAIL PLAN
       portreeve user set-password EMAIL --password-stdin

  create        create an account
  list          list all accounts, oldest first
  set-plan      change the plan of an account; a running service applies it at once
  set-password  change the password of an account and end its sessions; API tokens stay valid

  --email E           email address to sign in with
  --password-stdin    read the password (10 to 128 characters) from the first line of standard input
  --name N            display name
  --plan P            ${PLANS.join(', ')} (default: DEFAULT_PLAN; enterprise for the first administrator)
  --admin             allow the account to manage accounts
  --json              print JSON`

export const userCommand: CliCommand = {
  name: 'user',
  usage: USAGE,
  async run([verb = '', ...args]) {
    if (verb === 'create') return create(args)
    if (verb === 'list') return list(args)
    if (verb === 'set-plan') return changePlan(args)
    if (verb === 'set-password') return changePassword(args)
    const verbs = 'create, list, set-plan or set-password'
    throw new UsageError(
      verb === ''
        ? `Subcommand missing: ${verbs}.`
        : `“user ${verb}” is not a command. Use ${verbs}.`,
    )
  },
}

async function create(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      email: { type: 'string' },
      'password-stdin': { type: 'boolean' },
      name: { type: 'string' },
      plan: { type: 'string' },
      admin: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const { email, name, admin, json } = values
  if (email === undefined) throw new UsageError('--email is required.')
  const plan = values.plan === undefined ? undefined : parsePlan(values.plan)
  const password = await readPassword(values['password-stdin'])
  const make = async (db: Kysely<DB>, { DEFAULT_PLAN }: Config) => {
    const byDefault = admin && !(await hasAccounts(db)) ? 'enterprise' : DEFAULT_PLAN
    const account = await createAccount(db, {
      email,
      password,
      name,
      admin,
      plan: plan ?? byDefault,
    })
    await recordAudit(db, 'create', { account: account.email, plan: account.plan, admin })
    return account
  }
  const account = await withDatabase(make, { mayCreate: true })
  return printResult(account, json, `Created account ${account.email} with plan ${account.plan}.`)
}

async function list(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const accounts = await withDatabase((db) => listAccounts(db))
  const text = accounts.length === 0 ? 'No accounts yet.' : table(accounts.map(rowOf), '')
  return printResult(accounts, values.json, text)
}

function rowOf({ email, plan, admin, createdAt, name }: AccountRow): string[] {
  return [email, plan, admin ? 'admin' : '', createdAt.toISOString(), name]
}

async function changePlan(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      plan: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const words = [...positionals]
  const email = values.email ?? words.shift()
  const plan = values.plan ?? words.shift()
  if (email === undefined || plan === undefined || words.length > 0)
    throw new UsageError('Give an email address and a plan.')
  const name = parsePlan(plan)
  const account = await withDatabase(async (db) => {
    const changed = await setPlan(db, email, name)
    await recordAudit(db, 'set-plan', { account: changed.email, plan: name })
    return changed
  })
  return printResult(account, values.json, `${account.email} now has plan ${account.plan}.`)
}

async function changePassword(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      email: { type: 'string' },
      'password-stdin': { type: 'boolean' },
      json: { type: 'boolean', default: false },
    },
  })
  const [email = values.email, ...others] = positionals
  if (email === undefined || others.length > 0) throw new UsageError('Give one email address.')
  const password = await readPassword(values['password-stdin'])
  const account = await withDatabase(async (db) => {
    const changed = await setPassword(db, email, password)
    await recordAudit(db, 'set-password', { account: changed.email })
    return changed
  })
  return printResult(
    account,
    values.json,
    `Changed the password of ${account.email} and ended its sessions.`,
  )
}

const AUDIT_TEXTS = {
  create: 'Create an account',
  'set-plan': 'Change the plan of an account',
  'set-password': 'Change the password of an account',
}

/**
 * The audit log cannot name the actor: any user of this machine’s command line is an administrator.
 */
async function recordAudit(
  db: Kysely<DB>,
  verb: keyof typeof AUDIT_TEXTS,
  details: Record<string, unknown>,
): Promise<void> {
  const who = { actorId: null, actorEmail: 'command line' }
  await insertAuditEntry(db, {
    ...who,
    what: AUDIT_TEXTS[verb],
    route: `portreeve user ${verb}`,
    details,
  })
  await notifyChange(db, ADMINISTRATORS, 'administration')
}

/** The first line of standard input. */
async function readPassword(isOnStdin?: boolean): Promise<string> {
  if (!isOnStdin)
    throw new UsageError('Give the password on standard input, with --password-stdin.')
  return (await consume.text(process.stdin)).split(/\r?\n/, 1)[0] ?? ''
}

function parsePlan(text: string): Plan {
  const plan = PLANS.find((name) => name === text)
  if (plan === undefined) throw new UsageError(`“${text}” is not a plan. Use ${PLANS.join(', ')}.`)
  return plan
}

function printResult(data: unknown, json: boolean, text: string): number {
  console.log(json ? JSON.stringify({ success: true, data }) : text)
  return 0
}

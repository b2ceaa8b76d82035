import * as consume from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { Kysely } from 'kysely'
import { createAccount, setPassword, setPlan } from '../accounts/accounts.ts'
import { hasAccounts, insertAuditEntry, listAccounts, type AccountRow } from '../accounts/store.ts'
import { PLANS, type Config, type Plan } from '../config.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { UsageError, type Command } from './command.ts'
import { withDatabase } from './database.ts'
import { table } from './text.ts'

const USAGE = `Usage: portreeve user create --email E --password-stdin [--name N] [--plan P] [--admin]
       portreeve user list
       portreeve user set-plan EMAIL PLAN
       portreeve user set-password EMAIL --password-stdin

  create        make an account; its password is the first line of standard input
  list          all accounts, oldest first
  set-plan      change an account's plan, in the running service at once
  set-password  give an account another password and end its sessions; API tokens stay

  --email E           address the person signs in with
  --password-stdin    read the password (10 to 128 characters) from standard input
  --name N            what to call them
  --plan P            ${PLANS.join(', ')}; default DEFAULT_PLAN, and enterprise for a first administrator
  --admin             may manage accounts
  --json              print JSON`

export const userCommand: Command = {
  name: 'user',
  usage: USAGE,
  async run([verb = '', ...args]) {
    if (verb === 'create') return create(args)
    if (verb === 'list') return list(args)
    if (verb === 'set-plan') return changePlan(args)
    if (verb === 'set-password') return changePassword(args)
    const verbs = 'create, list, set-plan or set-password'
    throw new UsageError(verb === '' ? `say what to do: ${verbs}` : `there is no “user ${verb}”`)
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
  if (email === undefined) throw new UsageError('--email is missing')
  const plan = values.plan === undefined ? undefined : planCalled(values.plan)
  const password = await readPassword(values['password-stdin'])
  const make = async (db: Kysely<DB>, { DEFAULT_PLAN }: Config) => {
    const byDefault = admin && !(await hasAccounts(db)) ? 'enterprise' : DEFAULT_PLAN
    const account = await createAccount(db, { email, password, name, admin, plan: plan ?? byDefault })
    await writeDown(db, 'create', { account: account.email, plan: account.plan, admin })
    return account
  }
  const account = await withDatabase(make, { mayBegin: true })
  return tell(account, json, `Made the account ${account.email} with the plan ${account.plan}.`)
}

async function list(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } } })
  const accounts = await withDatabase((db) => listAccounts(db))
  const text = accounts.length === 0 ? 'There are no accounts yet.' : table(accounts.map(rowOf), '')
  return tell(accounts, values.json, text)
}

function rowOf({ email, plan, admin, createdAt, name }: AccountRow): string[] {
  return [email, plan, admin ? 'admin' : '', createdAt.toISOString(), name]
}

async function changePlan(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { email: { type: 'string' }, plan: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const words = [...positionals]
  const email = values.email ?? words.shift()
  const plan = values.plan ?? words.shift()
  if (email === undefined || plan === undefined || words.length > 0) throw new UsageError('give an e-mail and a plan')
  const name = planCalled(plan)
  const account = await withDatabase(async (db) => {
    const changed = await setPlan(db, email, name)
    await writeDown(db, 'set-plan', { account: changed.email, plan: name })
    return changed
  })
  return tell(account, values.json, `${account.email} now has the plan ${account.plan}.`)
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
  if (email === undefined || others.length > 0) throw new UsageError('give one e-mail')
  const password = await readPassword(values['password-stdin'])
  const account = await withDatabase(async (db) => {
    const changed = await setPassword(db, email, password)
    await writeDown(db, 'set-password', { account: changed.email })
    return changed
  })
  return tell(account, values.json, `${account.email} has a new password, and is signed out everywhere.`)
}

const ACTS = {
  create: 'Make an account',
  'set-plan': 'Change the plan of an account',
  'set-password': 'Give an account another password',
}

/** Whoever may run commands here is an administrator without a name. */
async function writeDown(db: Kysely<DB>, verb: keyof typeof ACTS, details: Record<string, unknown>): Promise<void> {
  const who = { actorId: null, actorEmail: 'command line' }
  await insertAuditEntry(db, { ...who, what: ACTS[verb], route: `portreeve user ${verb}`, details })
  await notifyChange(db, ADMINISTRATORS, 'administration')
}

/** The first line of standard input. */
async function readPassword(isOnStdin?: boolean): Promise<string> {
  if (!isOnStdin) throw new UsageError('give the password on standard input, with --password-stdin')
  return (await consume.text(process.stdin)).split(/\r?\n/, 1)[0] ?? ''
}

function planCalled(text: string): Plan {
  const plan = PLANS.find((name) => name === text)
  if (plan === undefined) throw new UsageError(`there is no plan “${text}”: ${PLANS.join(', ')}`)
  return plan
}

function tell(data: unknown, json: boolean, text: string): number {
  console.log(json ? JSON.stringify({ success: true, data }) : text)
  return 0
}

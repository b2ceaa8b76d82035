import * as consume from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { Kysely } from 'kysely'
import {
  createAccount,
  resetSecondFactors,
  setDisabled,
  setEmail,
  setPassword,
  setPlan,
} from '../accounts/accounts.ts'
import { linkSubject } from '../accounts/oidc/sign-in.ts'
import { createResetLinkFor } from '../accounts/recovery/password-reset.ts'
import { insertAuditEntries } from '../accounts/audit/store.ts'
import { hasAccounts, listAccounts, type AccountRow } from '../accounts/store.ts'
import { PLANS, type Config, type Plan } from '../config.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import { loadSecretKey } from '../store/encryption.ts'
import type { DB } from '../store/tables.ts'
import { UsageError, type CliCommand } from './command.ts'
import { withDatabase } from './database.ts'
import { table } from './text.ts'

const USAGE = `Usage: portreeve user create --email E --password-stdin [--name N] [--plan P] [--admin]
       portreeve user list
       portreeve user set-plan EMAIL PLAN
       portreeve user set-password EMAIL --password-stdin
       portreeve user set-email EMAIL NEW_EMAIL
       portreeve user reset-link EMAIL
       portreeve user reset-2fa EMAIL
       portreeve user disable EMAIL
       portreeve user enable EMAIL
       portreeve user link-oidc EMAIL SUBJECT

  create        create an account
  list          list all accounts, oldest first
  set-plan      change the plan of an account; a running service applies it at once
  set-password  change the password of an account and end its sessions; API tokens stay valid
  set-email     change the email address of an account without confirmation
  reset-link    print a link that sets a new password once, within 30 minutes
  reset-2fa     remove the authenticator app, backup codes and passkeys, and end the sessions
  disable       reject sign-ins and API tokens of an account; its data and monitoring stay
  enable        allow a disabled account again
  link-oidc     let an account sign in as SUBJECT (claim “sub”) of the provider in OIDC_ISSUER

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
    const change = CHANGES[verb as keyof typeof CHANGES] as Change | undefined
    if (change) return runChange(verb as keyof typeof CHANGES, change, args)
    const verbs = `create, list, set-plan, set-password, ${Object.keys(CHANGES).join(', ')}`
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

function rowOf({ email, plan, admin, createdAt, name, disabledAt }: AccountRow): string[] {
  const state = [admin && 'admin', disabledAt && 'disabled'].filter(Boolean).join(', ')
  return [email, plan, state, createdAt.toISOString(), name]
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

/** A change of one account: its argument after the email, and the line that it prints. */
type Change = {
  argument?: string
  run: (db: Kysely<DB>, email: string, value: string, config: Config) => Promise<ChangeResult>
}
type ChangeResult = { account: AccountRow; text: string; data?: object }

const CHANGES = {
  'set-email': {
    argument: 'a new email address',
    async run(db, email, value) {
      const account = await setEmail(db, email, value)
      return { account, text: `The account ${email} now has the address ${account.email}.` }
    },
  },
  'reset-link': {
    async run(db, email, _value, config) {
      const options = { db, secretKey: loadSecretKey(config), baseUrl: config.BASE_URL }
      const { account, link } = await createResetLinkFor(options, email)
      return { account, text: link, data: { email: account.email, link } }
    },
  },
  'reset-2fa': {
    async run(db, email) {
      const account = await resetSecondFactors(db, email)
      const text = `Removed the authenticator app and the passkeys of ${account.email} and ended its sessions.`
      return { account, text }
    },
  },
  disable: {
    async run(db, email) {
      const account = await setDisabled(db, email, true)
      return { account, text: `Disabled ${account.email} and ended its sessions.` }
    },
  },
  enable: {
    async run(db, email) {
      const account = await setDisabled(db, email, false)
      return { account, text: `Enabled ${account.email}.` }
    },
  },
  'link-oidc': {
    argument: 'a subject',
    async run(db, email, value, config) {
      const account = await linkSubject(db, config, email, value)
      return { account, text: `${account.email} can now sign in with ${config.OIDC_NAME}.` }
    },
  },
} satisfies Record<string, Change>

async function runChange(
  verb: keyof typeof CHANGES,
  { argument, run }: Change,
  args: string[],
): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  })
  const [email, value = '', ...others] = positionals
  const isComplete = argument === undefined ? value === '' : value !== ''
  if (email === undefined || !isComplete || others.length > 0)
    throw new UsageError(
      `Give ${argument === undefined ? 'one email address' : `an email address and ${argument}`}.`,
    )
  const { account, text, data } = await withDatabase(async (db, config) => {
    const result = await run(db, email, value, config)
    await recordAudit(db, verb, { account: result.account.email })
    return result
  })
  return printResult(data ?? account, values.json, text)
}

const AUDIT_TEXTS = {
  create: 'Create an account',
  'set-plan': 'Change the plan of an account',
  'set-password': 'Change the password of an account',
  'set-email': 'Change the email address of an account',
  'reset-link': 'Create a link to reset a password',
  'reset-2fa': 'Reset the second factors of an account',
  disable: 'Disable an account',
  enable: 'Enable an account',
  'link-oidc': 'Link an account to single sign-on',
}

/**
 * The audit log cannot name the actor: any user of this machine’s command line is an administrator.
 */
async function recordAudit(
  db: Kysely<DB>,
  verb: keyof typeof AUDIT_TEXTS,
  details: Record<string, unknown>,
): Promise<void> {
  const who = { workspaceId: null, actorId: null, actorEmail: 'command line', token: null }
  const entry = { ...who, what: AUDIT_TEXTS[verb], route: `portreeve user ${verb}`, details }
  await insertAuditEntries(db, [entry])
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

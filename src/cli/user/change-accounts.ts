import * as consume from 'node:stream/consumers'
import type { Kysely } from 'kysely'
import {
  createAccount,
  requireEmail,
  requireGoodPassword,
  resetSecondFactors,
  setDisabled,
  setEmail,
  setPassword,
  setPlan,
} from '../../accounts/accounts.ts'
import { insertAuditEntries } from '../../accounts/audit/audit-log.sql.ts'
import { linkSubject } from '../../accounts/oidc/oidc-sign-in.ts'
import { createResetLinkFor } from '../../accounts/recovery/password-reset.ts'
import { findSetupLink } from '../../accounts/registration/setup.ts'
import { hasAccounts, listAccounts, type AccountRow } from '../../accounts/accounts.sql.ts'
import type { Config, Plan } from '../../config.ts'
import { ADMINISTRATORS, notifyChange } from '../../store/changes.ts'
import { Fault } from '../../errors.ts'
import { openSecretKey } from '../../store/secret-key.ts'
import type { DB } from '../../store/tables.ts'
import { UsageError } from '../command.ts'
import { withDatabase } from '../database-access.ts'
import { printResult } from '../print-result.ts'
import { askLine, askSecret, askUntilValid, askYesNo } from '../prompt.ts'
import { firstLineOf } from '../secret-file.ts'
import { table } from '../terminal-text.ts'

export type NewUser = {
  email: string | undefined
  'password-stdin': boolean
  name: string | undefined
  plan: Plan | undefined
  admin: boolean
}

/** Creates an account; at a terminal, prompts for what is missing. */
export async function createUser(given: NewUser, json: boolean): Promise<number> {
  const prompted = given.email === undefined || !given['password-stdin']
  const email = given.email ?? (await askUntilValid(() => askLine('Email address'), requireAddress))
  if (email === null) throw new UsageError('missing --email EMAIL.', SCRIPT_EXAMPLE)
  const password = await readPassword(given['password-stdin'])
  const admin = given.admin || (prompted && ((await askYesNo('Administrator?')) ?? false))
  const { name, plan } = given
  const make = async (db: Kysely<DB>, { DEFAULT_PLAN }: Config) => {
    const byDefault = admin && !(await hasAccounts(db)) ? 'enterprise' : DEFAULT_PLAN
    const input = { email, password, name, admin, plan: plan ?? byDefault }
    const account = await createAccount(db, input)
    await recordAudit(db, 'create', { account: account.email, plan: account.plan, admin })
    return account
  }
  const account = await withDatabase(make, { mayCreate: true })
  return printResult(account, json, `Created account ${account.email} with plan ${account.plan}.`)
}

/**
 * Prints the link that creates the first account.
 * @throws Fault `conflict` once an account exists
 */
export async function printSetupLink(json: boolean): Promise<number> {
  const link = await withDatabase(async (db, config) => {
    const secretKey = await openSecretKey(db, config, [])
    const found = await findSetupLink({ db, secretKey, baseUrl: config.BASE_URL })
    if (found !== null) return found
    throw new Fault('conflict', 'There are accounts, so there is no setup link.', {
      suggestion: 'portreeve user create, or portreeve user reset-link EMAIL',
    })
  })
  return printResult({ link }, json, link)
}

export async function listUsers(json: boolean): Promise<number> {
  const accounts = await withDatabase((db) => listAccounts(db))
  const text = accounts.length === 0 ? 'No accounts yet.' : table(accounts.map(rowOf), '')
  return printResult(accounts, json, text)
}

function rowOf({ email, plan, admin, createdAt, name, disabledAt }: AccountRow): string[] {
  const state = [admin && 'admin', disabledAt && 'disabled'].filter(Boolean).join(', ')
  return [email, plan, state, createdAt.toISOString(), name]
}

export async function changePlan(email: string, plan: Plan, json: boolean): Promise<number> {
  const account = await withDatabase(async (db) => {
    const changed = await setPlan(db, email, plan)
    await recordAudit(db, 'set-plan', { account: changed.email, plan })
    return changed
  })
  return printResult(account, json, `${account.email} now has plan ${account.plan}.`)
}

export async function changePassword(
  email: string,
  isOnStdin: boolean,
  json: boolean,
): Promise<number> {
  const password = await readPassword(isOnStdin)
  const account = await withDatabase(async (db) => {
    const changed = await setPassword(db, email, password)
    await recordAudit(db, 'set-password', { account: changed.email })
    return changed
  })
  const text = `Changed the password of ${account.email} and ended its sessions.`
  return printResult(account, json, text)
}

/** A change of one account, and the line that it prints. */
type Change = {
  run: (db: Kysely<DB>, email: string, value: string, config: Config) => Promise<ChangeResult>
}
type ChangeResult = { account: AccountRow; text: string; data?: object }

const CHANGES = {
  'set-email': {
    async run(db, email, value) {
      const account = await setEmail(db, email, value)
      return { account, text: `The account ${email} now has the address ${account.email}.` }
    },
  },
  'reset-link': {
    async run(db, email, _value, config) {
      const options = {
        db,
        secretKey: await openSecretKey(db, config, []),
        baseUrl: config.BASE_URL,
      }
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
    async run(db, email, value, config) {
      const account = await linkSubject(db, config, email, value)
      return { account, text: `${account.email} can now sign in with ${config.OIDC_NAME}.` }
    },
  },
} satisfies Record<string, Change>

/** Applies a change of one account. `argument` stands after its email address. */
export async function changeUser(
  verb: keyof typeof CHANGES,
  email: string,
  argument: string,
  json: boolean,
): Promise<number> {
  const change: Change = CHANGES[verb]
  const { account, text, data } = await withDatabase(async (db, config) => {
    const result = await change.run(db, email, argument, config)
    await recordAudit(db, verb, { account: result.account.email })
    return result
  })
  return printResult(data ?? account, json, text)
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

const SCRIPT_EXAMPLE = `printf '%s\\n' "$PASSWORD" | portreeve user create --email you@example.com --password-stdin`

/** Reads the first line of standard input, or prompts twice at a terminal. */
async function readPassword(isOnStdin: boolean): Promise<string> {
  if (isOnStdin && !process.stdin.isTTY) {
    const password = firstLineOf(await consume.text(process.stdin))
    if (password !== '') return password
    throw new UsageError(
      'standard input is empty: pipe the password into the command. docker exec and kubectl exec need -i.',
    )
  }
  const password = await askNewPassword()
  if (password === null)
    throw new UsageError('missing password: give it on standard input with --password-stdin.')
  return password
}

async function askNewPassword(): Promise<string | null> {
  for (;;) {
    const question = 'Password (10 to 128 characters)'
    const password = await askUntilValid(() => askSecret(question), requireGoodPassword)
    if (password === null || password === (await askSecret('Repeat the password'))) return password
    console.error('The passwords differ. Enter them again.')
  }
}

function requireAddress(answer: string): void {
  try {
    requireEmail(answer)
  } catch {
    throw new Error('Enter an email address such as alice@example.com.')
  }
}

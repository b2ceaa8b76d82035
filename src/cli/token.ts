import { parseArgs } from 'node:util'
import { requireFirstWorkspace } from '../accounts/accounts.ts'
import { issueToken } from '../accounts/tokens/tokens.ts'
import { UsageError, type CliCommand } from './command.ts'
import { withDatabase } from './database.ts'

const USAGE = `Usage: portreeve token create --email E [--label L]

Creates an API token for an account and prints it on one line. It cannot be shown again.

  --email E    email address of the account
  --label L    label, such as the purpose of the token
  --json       print JSON`

export const tokenCommand: CliCommand = {
  name: 'token',
  usage: USAGE,
  async run([verb = '', ...args]) {
    if (verb !== 'create')
      throw new UsageError(
        verb === '' ? 'Subcommand missing: create.' : `“token ${verb}” is not a command.`,
      )
    const { values } = parseArgs({
      args,
      options: {
        email: { type: 'string' },
        label: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    })
    const { email, label, json } = values
    if (email === undefined) throw new UsageError('--email is required.')
    const issued = await withDatabase(async (db) =>
      issueToken(db, await requireFirstWorkspace(db, email), label),
    )
    const { token, id, createdAt } = issued
    console.log(
      json ? JSON.stringify({ success: true, token, id, label: issued.label, createdAt }) : token,
    )
    return 0
  },
}

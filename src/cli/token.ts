import { parseArgs } from 'node:util'
import { requireAccount } from '../accounts/accounts.ts'
import { issueToken } from '../accounts/tokens.ts'
import { UsageError, type Command } from './command.ts'
import { withDatabase } from './database.ts'

const USAGE = `Usage: portreeve token create --email E [--label L]

Makes an API token for an account and prints it, alone on one line. It is shown this once.

  --email E    whose token it is
  --label L    what it is for
  --json       print JSON`

export const tokenCommand: Command = {
  name: 'token',
  usage: USAGE,
  async run([verb = '', ...args]) {
    if (verb !== 'create') throw new UsageError(verb === '' ? 'say what to do: create' : `there is no “token ${verb}”`)
    const { values } = parseArgs({
      args,
      options: {
        email: { type: 'string' },
        label: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    })
    const { email, label, json } = values
    if (email === undefined) throw new UsageError('--email is missing')
    const issued = await withDatabase(async (db) => issueToken(db, (await requireAccount(db, email)).id, label))
    const { token, id, createdAt } = issued
    console.log(json ? JSON.stringify({ success: true, token, id, label: issued.label, createdAt }) : token)
    return 0
  },
}

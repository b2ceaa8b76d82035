import { defineCommand, defineGroup } from './command.ts'

const createCommand = defineCommand({
  name: 'create',
  summary: 'Create an API token for an account and print it on one line',
  description: ['The token cannot be shown again.'],
  flags: {
    email: { value: 'EMAIL', required: true, summary: 'email address of the account' },
    label: { value: 'TEXT', summary: 'label, such as the purpose of the token' },
  },
  examples: [
    {
      does: 'A token for a script',
      command: 'portreeve token create --email you@example.com --label cron',
    },
  ],
  async run({ flags: { email, label }, json }) {
    const [{ requireFirstWorkspace }, { issueToken }, { withDatabase }] = await Promise.all([
      import('../accounts/accounts.ts'),
      import('../accounts/tokens/tokens.ts'),
      import('./database.ts'),
    ])
    const issued = await withDatabase(async (db) =>
      issueToken(db, await requireFirstWorkspace(db, email), label),
    )
    const { token, id, createdAt } = issued
    const result = { success: true, token, id, label: issued.label, createdAt }
    console.log(json ? JSON.stringify(result) : token)
    return 0
  },
})

export const tokenCommand = defineGroup({
  name: 'token',
  summary: 'Create API tokens',
  examples: createCommand.examples,
  subcommands: [createCommand],
})

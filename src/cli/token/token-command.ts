import { TOKEN_LIFETIMES } from '../../accounts/tokens/lifetimes.ts'
import { SCOPES } from '../../http/access.ts'
import { defineCommand, defineGroup } from '../command.ts'

const EMAIL = { value: 'EMAIL', required: true, summary: 'email address of the account' } as const
const WORKSPACE = {
  value: 'ID',
  summary: 'ID of a workspace of the account',
  defaultText: 'its first workspace',
} as const

const load = () => import('./manage-tokens.ts')

const createCommand = defineCommand({
  name: 'create',
  summary: 'Create an API token for an account and print it on one line',
  description: ['The token cannot be shown again.'],
  flags: {
    email: EMAIL,
    label: { value: 'TEXT', summary: 'label, such as the purpose of the token' },
    scope: {
      value: 'SCOPE',
      multiple: true,
      choices: SCOPES,
      summary: 'limit the token to a scope; several are allowed',
      defaultText: 'everything that the account may do',
    },
    expires: {
      value: 'DAYS',
      choices: TOKEN_LIFETIMES.map(String),
      summary: 'days until the token expires',
      defaultText: 'never',
    },
    workspace: WORKSPACE,
  },
  examples: [
    {
      does: 'A token for a script',
      command: 'portreeve token create --email you@example.com --label cron',
    },
    {
      does: 'A token that reads DMARC reports for 90 days',
      command: 'portreeve token create --email you@example.com --scope dmarc:read --expires 90',
    },
  ],
  async run({ flags, json }) {
    return (await load()).createToken(flags, json)
  },
})

const listCommand = defineCommand({
  name: 'list',
  summary: 'List the API tokens of an account in a workspace, newest first',
  flags: { email: EMAIL, workspace: WORKSPACE },
  examples: [
    { does: 'The tokens of an account', command: 'portreeve token list --email you@example.com' },
  ],
  async run({ flags, json }) {
    return (await load()).listOwnTokens(flags, json)
  },
})

const revokeCommand = defineCommand({
  name: 'revoke',
  summary: 'Revoke an API token',
  description: ['A running service rejects it at once.'],
  operands: [{ name: 'ID', summary: 'its ID, from token list' }],
  examples: [
    {
      does: 'Revoke one token',
      command: 'portreeve token revoke 019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
    },
  ],
  async run({ operands: [id = ''], json }) {
    return (await load()).revokeOne(id, json)
  },
})

export const tokenCommand = defineGroup({
  name: 'token',
  summary: 'Create, list and revoke API tokens',
  examples: createCommand.examples,
  subcommands: [createCommand, listCommand, revokeCommand],
})

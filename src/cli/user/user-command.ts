import { PLANS } from '../../config.ts'
import {
  defineCommand,
  defineGroup,
  UsageError,
  type CliCommand,
  type Flag,
  type Operand,
} from '../command.ts'

const EMAIL = { name: 'EMAIL', summary: 'email address of the account' } as const

const PASSWORD_STDIN = {
  summary: 'read the password (10 to 128 characters) from the first line of standard input',
} as const satisfies Flag

const load = () => import('./change-accounts.ts')

const createCommand = defineCommand({
  name: 'create',
  summary: 'Create an account',
  description: [
    'At a terminal, it prompts for the email address, the password, and whether the account is an administrator, unless flags say so.',
  ],
  flags: {
    email: { value: 'EMAIL', summary: 'email address to sign in with' },
    'password-stdin': PASSWORD_STDIN,
    name: { value: 'NAME', summary: 'display name' },
    plan: {
      value: 'PLAN',
      choices: PLANS,
      summary: 'plan of the account',
      defaultText: 'DEFAULT_PLAN, and enterprise for the first administrator',
    },
    admin: { summary: 'allow the account to manage accounts' },
  },
  examples: [
    { does: 'Prompt for everything', command: 'portreeve user create' },
    {
      does: 'An administrator, from a script',
      command: `printf '%s\\n' "$PASSWORD" | portreeve user create --email you@example.com --password-stdin --admin`,
    },
  ],
  async run({ flags, json }) {
    return (await load()).createUser(flags, json)
  },
})

const setupLinkCommand = defineCommand({
  name: 'setup-link',
  summary: 'Print the link that creates the first account',
  description: ['It is the link that the service prints at its start while no account exists.'],
  examples: [{ does: 'After a start whose log is lost', command: 'portreeve user setup-link' }],
  async run({ json }) {
    return (await load()).printSetupLink(json)
  },
})

const listCommand = defineCommand({
  name: 'list',
  summary: 'List all accounts, oldest first',
  examples: [{ does: 'All accounts', command: 'portreeve user list' }],
  async run({ json }) {
    return (await load()).listUsers(json)
  },
})

const setPlanCommand = defineCommand({
  name: 'set-plan',
  summary: 'Change the plan of an account',
  description: ['A running service applies the new plan at once.'],
  operands: [
    { ...EMAIL, optional: 'by flag' },
    { name: 'PLAN', summary: PLANS.join(', '), optional: 'by flag', choices: PLANS },
  ],
  flags: {
    email: { value: 'EMAIL', summary: 'the same as the first argument' },
    plan: { value: 'PLAN', choices: PLANS, summary: 'the same as the second argument' },
  },
  examples: [
    { does: 'Give an account more', command: 'portreeve user set-plan alice@example.com pro' },
  ],
  async run({ operands, flags, json }) {
    const words = [...operands]
    const email = flags.email ?? words.shift()
    const plan = PLANS.find((name) => name === (flags.plan ?? words[0]))
    if (email === undefined || plan === undefined || words.length > (flags.plan ? 0 : 1))
      throw new UsageError(
        'Give an email address and a plan.',
        'portreeve user set-plan alice@example.com pro',
      )
    return (await load()).changePlan(email, plan, json)
  },
})

const setPasswordCommand = defineCommand({
  name: 'set-password',
  summary: 'Change the password of an account and end its sessions',
  description: [
    'At a terminal, it prompts for the new password. API tokens of the account stay valid.',
  ],
  operands: [{ ...EMAIL, optional: 'by flag' }],
  flags: {
    email: { value: 'EMAIL', summary: 'the same as the argument' },
    'password-stdin': PASSWORD_STDIN,
  },
  examples: [
    {
      does: 'Prompt for the new password',
      command: 'portreeve user set-password alice@example.com',
    },
  ],
  async run({ operands: [operand], flags, json }) {
    const email = operand ?? flags.email
    if (email === undefined)
      throw new UsageError('missing EMAIL.', 'portreeve user set-password alice@example.com')
    return (await load()).changePassword(email, flags['password-stdin'], json)
  },
})

type Change = {
  name: 'set-email' | 'reset-link' | 'reset-2fa' | 'disable' | 'enable' | 'link-oidc'
  summary: string
  description?: string[]
  /** The argument after the email address. */
  operand?: Operand
  example: string
}

const CHANGES: Change[] = [
  {
    name: 'set-email',
    summary: 'Change the email address of an account without confirmation',
    operand: { name: 'NEW_EMAIL', summary: 'the new email address' },
    example: 'Correct an address',
  },
  {
    name: 'reset-link',
    summary: 'Print a link that sets a new password',
    description: ['The link works once, within 30 minutes.'],
    example: 'A link for a user who forgot the password',
  },
  {
    name: 'reset-2fa',
    summary: 'Remove the authenticator app, backup codes and passkeys, and end the sessions',
    example: 'Help an account whose phone is lost',
  },
  {
    name: 'disable',
    summary: 'Reject sign-ins and API tokens of an account',
    description: ['Its data and its monitoring stay.'],
    example: 'Lock an account',
  },
  {
    name: 'enable',
    summary: 'Allow a disabled account again',
    example: 'Unlock an account',
  },
  {
    name: 'link-oidc',
    summary: 'Let an account sign in with the OpenID provider in OIDC_ISSUER',
    operand: { name: 'SUBJECT', summary: 'its claim “sub” at the provider' },
    example: 'Link an account to single sign-on',
  },
]

const EXAMPLE_VALUES: Record<string, string> = {
  NEW_EMAIL: ' alice@example.org',
  SUBJECT: ' 248289761001',
}

function changeCommand({ name, summary, description, operand, example }: Change): CliCommand {
  const value = EXAMPLE_VALUES[operand?.name ?? ''] ?? ''
  return defineCommand({
    name,
    summary,
    ...(description && { description }),
    operands: operand ? [EMAIL, operand] : [EMAIL],
    examples: [{ does: example, command: `portreeve user ${name} alice@example.com${value}` }],
    async run({ operands: [email = '', argument = ''], json }) {
      return (await load()).changeUser(name, email, argument, json)
    },
  })
}

export const userCommand = defineGroup({
  name: 'user',
  summary: 'Create and list accounts, set plans and passwords',
  description: ['These commands work while the service runs and while it is stopped.'],
  examples: [
    { does: 'Create an account', command: 'portreeve user create' },
    { does: 'List all accounts', command: 'portreeve user list' },
  ],
  subcommands: [
    createCommand,
    setupLinkCommand,
    listCommand,
    setPlanCommand,
    setPasswordCommand,
    ...CHANGES.map(changeCommand),
  ],
})

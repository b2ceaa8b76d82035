import { counted } from '../ui/text/format.ts'
import type { ApiToken } from '../api.ts'

export type Scope = NonNullable<ApiToken['scopes']>[number]
export type Module = Exclude<Scope extends `${infer Name}:${string}` ? Name : never, '*'>

/** Texts of the parts of the API that tokens are limited to. */
export const scopes = {
  everything: 'Everything that the role of its creator allows',
  allModules: 'All modules',
  modules: {
    checks: 'Checks',
    dmarc: 'DMARC',
    monitoring: 'Monitoring',
    delisting: 'Delisting',
    migrations: 'Migrations',
    attacks: 'Attacks',
    webhooks: 'Webhooks',
    alerts: 'Alerts',
    workspace: 'Workspace',
  } satisfies Record<Module, string>,
  scope: (name: string, canWrite: boolean) => `${name} (${canWrite ? 'read and write' : 'read'})`,
} as const

export const form = {
  name: 'Token name',
  namePlaceholder: 'monitoring',
  missingName: 'Name it after the program that uses it.',
  preset: 'Access',
  presets: {
    all: 'Everything that I can do',
    read: 'Read everything',
    module: 'One module',
    custom: 'Several modules',
  },
  presetHint: 'Choose the least that the program needs.',
  module: 'Module',
  right: 'Rights',
  rights: { none: 'No access', read: 'Read', write: 'Read and write' },
  modules: 'Modules',
  accessTo: (module: string) => module,
  chooseModule: 'Give access to at least one module.',
  expiry: 'Expires',
  expiries: { 30: 'After 30 days', 90: 'After 90 days', 365: 'After a year', never: 'Never' },
  create: 'Create token',
} as const

export const tokens = {
  title: 'API tokens',
  lead: 'A token lets a program use this workspace as you. It never allows more than your role, and can’t create tokens.',
  reportTokensBefore: 'Servers that report attacks use separate',
  reportTokensLink: 'report tokens',
  yours: 'Your tokens',
  all: 'Tokens of all members',
  created: (name: string) => (name ? `Token “${name}” created` : 'Token created'),
  copyNow: 'Copy it now. You won’t be able to see it again.',
  theToken: 'the token',
  tryIt: 'Try it:',
  theCommand: 'the command',
  loading: 'Loading tokens…',
  empty: 'No tokens yet.',
  unnamed: 'Unnamed token',
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke “${name}”?`,
  revokeEffect: (lastFour: string) =>
    `Programs that use the token ending in \`${lastFour}\` lose access at once. This can’t be undone.`,
  masked: (lastFour: string) => `prv_…${lastFour}`,
  columns: {
    token: 'Token',
    access: 'Access',
    creator: 'Created by',
    created: 'Created',
    expires: 'Expires',
    used: 'Last used',
    actions: 'Action',
  },
  filter: 'Filter by name or access',
  revokeSeveral: (count: number) => `Revoke ${counted(count, 'token')}?`,
  revokeSeveralEffect: 'Programs that use them lose access at once. This can’t be undone.',
  createdBy: (email: string) => `by ${email}`,
  expired: 'Expired',
  never: 'never',
} as const

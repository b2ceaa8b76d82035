import { PLANS } from '../../config.ts'
import { ROLES } from '../../http/access.ts'
import { defineVerbs, type VerbSpec } from '../verbs.ts'

const EXAMPLE_ID = '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11'
const ID = { name: 'ID', summary: 'ID of the workspace, from workspace list' } as const
const EMAIL = { name: 'EMAIL', summary: 'email address of the account' } as const
const NAME = { name: 'NAME', summary: 'name of the workspace' } as const
const ROLE = { name: 'ROLE', summary: ROLES.join(', '), choices: ROLES } as const
const PLAN = { name: 'PLAN', summary: PLANS.join(', '), choices: PLANS } as const

const load = () => import('./manage-workspaces.ts')

type Verb = Parameters<Awaited<ReturnType<typeof load>>['runVerb']>[0]
const SPECS: VerbSpec<Verb>[] = [
  {
    name: 'list',
    summary: 'List all workspaces with plan, members and owner, oldest first',
    example: ['All workspaces', ''],
  },
  {
    name: 'create',
    summary: 'Create a workspace for an account, beyond the limit of its plan',
    operands: [
      NAME,
      { name: 'OWNER_EMAIL', summary: 'email address of its owner' },
      { ...PLAN, optional: true },
    ],
    example: ['A workspace for a customer', 'Hosting alice@example.com pro'],
  },
  {
    name: 'rename',
    summary: 'Change the name of a workspace',
    operands: [ID, NAME],
    example: ['Rename a workspace', `${EXAMPLE_ID} Hosting`],
  },
  {
    name: 'members',
    summary: 'List the members of a workspace',
    operands: [ID],
    example: ['Its members', EXAMPLE_ID],
  },
  {
    name: 'add-member',
    summary: 'Make an account a member without an invitation',
    operands: [ID, EMAIL, { ...ROLE, optional: true }],
    example: ['Add a member', `${EXAMPLE_ID} bob@example.com member`],
  },
  {
    name: 'remove-member',
    summary: 'Remove a member and revoke the API tokens in this workspace',
    operands: [ID, EMAIL],
    example: ['Remove a member', `${EXAMPLE_ID} bob@example.com`],
  },
  {
    name: 'set-role',
    summary: 'Change the role of a member',
    description: ['A running service applies it at once.'],
    operands: [ID, EMAIL, ROLE],
    example: ['Make a member an admin', `${EXAMPLE_ID} bob@example.com admin`],
  },
  {
    name: 'set-plan',
    summary: 'Change the plan of a workspace',
    operands: [ID, PLAN],
    example: ['Give a workspace more', `${EXAMPLE_ID} business`],
  },
  {
    name: 'invite',
    summary: 'Print an invitation link in the name of the first owner',
    description: ['No email is sent. With EMAIL, only that address can accept.'],
    operands: [
      ID,
      { ...ROLE, optional: true },
      { name: 'EMAIL', summary: 'the address that can accept', optional: true },
    ],
    example: ['A link for a colleague', `${EXAMPLE_ID} member bob@example.com`],
  },
  {
    name: 'delete',
    summary: 'Delete a workspace',
    description: ['Its members lose access at once. Its data is deleted after 7 days.'],
    operands: [ID, NAME],
    example: ['Delete a workspace', `${EXAMPLE_ID} Hosting`],
  },
  {
    name: 'restore',
    summary: 'Restore a deleted workspace within 7 days',
    operands: [ID],
    example: ['Restore a workspace', EXAMPLE_ID],
  },
]

export const workspaceCommand = defineVerbs(
  {
    name: 'workspace',
    summary: 'Create and list workspaces, manage their members and plans',
    examples: [
      { does: 'All workspaces', command: 'portreeve workspace list' },
      {
        does: 'A workspace for a customer',
        command: 'portreeve workspace create Hosting alice@example.com pro',
      },
    ],
  },
  SPECS,
  async (verb, operands, json) => (await load()).runVerb(verb, operands, json),
)

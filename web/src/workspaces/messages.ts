import { counted } from '../ui/text/format.ts'
import type { Role } from '../api.ts'

const ROLE_NAMES: Record<Role, string> = {
  owner: 'Owner',
  admin: 'Admin',
  member: 'Member',
  'read-only': 'Read-only',
}

export const roles = {
  names: ROLE_NAMES,
  /** For lists of choices. */
  explained: {
    owner: 'Owner: everything, also deleting the workspace',
    admin: 'Admin: also manages people, tokens and settings',
    member: 'Member: can see and change everything here',
    'read-only': 'Read-only: sees data and runs checks',
  } satisfies Record<Role, string>,
  /** Why an action that needs this role is not available. */
  missing: {
    owner: 'Only owners of this workspace can do this.',
    admin: 'Only admins and owners of this workspace can do this.',
    member: 'You have read-only access to this workspace.',
    'read-only': '',
  } satisfies Record<Role, string>,
} as const

/** The button at the head of the sidebar, and its dialog. */
export const switcher = {
  open: (name: string) => `Workspace ${name}, switch`,
  title: 'Switch workspace',
  search: 'Search workspaces',
  results: 'Workspaces',
  noResults: (text: string) => `No workspace matches “${text}”`,
  details: (role: Role, plan: string) => `${ROLE_NAMES[role]} · ${plan}`,
  current: 'Current',
  overview: 'Problems in all workspaces',
  create: 'New workspace',
  close: 'Close',
} as const

export const lost = {
  text: 'You no longer have access to the workspace you used here. This is your first workspace.',
  dismiss: 'OK',
} as const

export const settings = {
  title: 'Workspace',
  loading: 'Loading the workspace…',
  about: 'About',
  facts: { role: 'Your role', plan: 'Plan', members: 'Members', created: 'Created' },
  nameSection: 'Name',
  name: 'Workspace name',
  save: 'Save name',
  saved: 'Name saved.',
  enterName: 'Enter a name.',
  createSection: 'New workspace',
  createLead:
    'A workspace has its own hosts, domains, webhooks, migrations, tokens and members. Your plan limits how many you can create.',
  createName: 'Name of the new workspace',
  create: 'Create workspace',
  created: (name: string) => `You’re now in “${name}”.`,
  back: 'Back',
  leaveSection: 'Leave workspace',
  leaveText: 'You lose access to its data, and your API tokens here stop working.',
  leaveAlone: 'You’re the only owner, so you can’t leave. Delete the workspace instead.',
  leave: 'Leave workspace',
  leaveTitle: (name: string) => `Leave “${name}”?`,
  leaveEffect: 'You lose access at once. To come back, you need a new invitation.',
  lastOwner: 'You are the only owner. Transfer the ownership to another member first.',
  transferLink: 'Transfer ownership',
  deleteSection: 'Delete workspace',
  deleteSummary: 'Delete this workspace',
  deleteWarning: 'All members lose access at once',
  deleteText:
    'API tokens stop working, new mail reports and webhook requests are rejected. Owners can restore the workspace for 7 days; then all its data is deleted.',
  confirmName: 'Its name, to confirm',
  enterExactName: (name: string) => `Enter ${name} to confirm.`,
  delete: 'Delete workspace',
  restoreSection: 'Deleted workspaces',
  restoreUntil: 'can be restored until',
  restore: 'Restore',
} as const

export const members = {
  title: 'Members',
  loading: 'Loading members…',
  columns: ['Member', 'Role', 'Joined', 'Actions'],
  joined: 'Joined',
  you: (name: string) => (name ? `${name} (you)` : 'You'),
  roleOf: (email: string) => `Role of ${email}`,
  invite: 'Invite a member',
  remove: 'Remove',
  removeTitle: (email: string) => `Remove ${email}?`,
  removeEffect: 'They lose access at once, and their API tokens for this workspace stop working.',
  transferSection: 'Transfer ownership',
  transferLead:
    'First make another member an owner. Their plan needs a place for one more workspace. Then decide which role you keep.',
  transferSteps: { choose: 'New owner', keep: 'Your role' },
  transferSummary: 'Make another member the owner',
  transferLabel: 'Steps of the transfer',
  chooseOwner: 'New owner',
  chooseHint: 'They can do everything, also delete the workspace and remove you.',
  makeOwner: 'Make owner',
  nobody: 'Invite another member first.',
  isOwner: (email: string) => `${email} is an owner now.`,
  keepRole: 'Role you keep',
  keepOwner: 'Owner: stay an owner, too',
  stepDown: 'Finish',
  transferred: (email: string, role: Role) =>
    `Ownership transferred to ${email}. Your role is ${ROLE_NAMES[role].toLowerCase()} now.`,
  shared: (email: string) => `${email} and you are owners now.`,
} as const

export const invitations = {
  title: 'Invitations',
  loading: 'Loading invitations…',
  createSection: 'Invite a member',
  email: 'Email',
  emailHint:
    'Creates the account if there is none. Without an address, anyone with an account and the link can join.',
  emailExample: 'bob@example.com',
  enterEmail: 'Enter an email address such as bob@example.com, or leave it empty.',
  role: 'Role',
  submit: 'Create invitation',
  created: 'Invitation created',
  mailed: (email: string) => `We sent the link to ${email}. You can also send it yourself:`,
  notMailed: (email: string) =>
    `This service couldn’t send it. Copy the link and send it to ${email} yourself:`,
  linkOnly:
    'Copy the link now, it won’t be shown again. The first person with an account who opens it can join:',
  theLink: 'the invitation link',
  expires: 'It works once, within 7 days.',
  openSection: 'Open invitations',
  empty: 'No open invitations.',
  byLink: 'Anybody with the link',
  details: (role: Role, by: string) => `${ROLE_NAMES[role]} · invited by ${by} · expires`,
  revoke: 'Revoke',
  revokeTitle: 'Revoke this invitation?',
  revokeAbout: (target: string) => `the invitation for ${target}`,
  revokeEffect: 'Its link stops working at once.',
} as const

export const invitation = {
  title: 'Invitation',
  join: (workspace: string) => `Join “${workspace}”`,
  loading: 'Loading the invitation…',
  lead: (by: string, role: Role) =>
    `${by} invited you. Your role: ${ROLE_NAMES[role].toLowerCase()}.`,
  expires: 'The invitation expires on',
  accept: 'Join workspace',
  signInFirst: 'Sign in to join. You come back here afterwards.',
  signIn: 'Sign in',
  newAccount: (email: string) => `Create your account. You’ll sign in as ${email}.`,
  name: 'Your name',
  createAccount: 'Create account and join',
  haveAccount: 'Already have an account?',
  signUpSummary: 'Create an account',
  noSignUp: 'No account yet? Ask the administrator of this service for one.',
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  wrongAddressTitle: 'This invitation is for another address',
  wrongAddress: (invited: string, own: string) =>
    `It was sent to ${invited}, and you are signed in as ${own}. Sign in with the invited address, or ask for an invitation to yours.`,
  useOther: 'Sign in with another account',
  incompleteTitle: 'This link is incomplete',
  incomplete: 'Copy the whole link, including everything after `#`.',
  failedTitle: 'This invitation can’t be used',
} as const

export const overview = {
  title: 'Your workspaces',
  lead: 'Problems in each of your workspaces.',
  loading: 'Loading workspaces…',
  checking: 'Checking…',
  failed: 'Couldn’t load its problems.',
  problems: (count: number) => (count === 0 ? 'No problems' : counted(count, 'problem')),
  open: 'Open',
  current: 'Open in this tab',
  more: 'Show more',
} as const

export const audit = {
  title: 'Audit log',
  lead: 'Changes in this workspace are kept for 400 days.',
  empty: 'No changes yet.',
  caption: 'Changes in this workspace',
} as const

export const palette = {
  switchTo: (name: string) => `Switch to ${name}`,
  invite: 'Invite a member',
  kind: 'Workspace',
  members: 'Members',
} as const

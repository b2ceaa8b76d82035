import type { Tone } from '../ui/feedback/status.tsx'
import { counted, numberText } from '../ui/text/format.ts'
import type { AuditEntryRow, Health } from './api.ts'

type State = Health['findings'][number]['state']

/** Shared by the screens of the administration. */
export const health = {
  title: 'Administration',
  loading: 'Checking DNS resolvers and blocklists…',
  checks: 'Health checks',
  columns: ['Component', 'Status', 'Details'],
  queue: 'Job queue',
  service: 'Service',
  version: 'Version',
  upSince: 'Up since',
  database: 'Database',
  databaseText: (version: string, size: string) => `PostgreSQL ${version}, ${size}`,
  activeJobs: 'Active jobs',
  jobColumns: ['Job', 'State', 'Failures'],
  noJobs: 'No jobs running or queued. No failures in the last 24 hours.',
  idleJobs: (count: number) => counted(count, 'idle job type'),
  failures: (count: number) => `${numberText(count)} failed in the last 24 hours`,
} as const

export const accounts = {
  title: 'Accounts',
  loading: 'Loading accounts…',
  columns: ['Account', 'Plan (migrations a month)', 'Role', 'Storage', 'Created'] as const,
  name: 'Name',
  filter: 'Filter by email, name or plan',
  setPlan: (plan: string) => `Set plan to ${plan}`,
  you: (name: string) => `${name} (you)`,
  planOf: (email: string) => `Plan for ${email}`,
  administrator: 'Administrator',
  delete: 'Delete',
  deleteTitle: (count: number) => `Delete ${counted(count, 'account')}?`,
  deleteEffect:
    'Everything in these accounts is deleted with them: hosts, reports, migrations, webhooks and tokens. This can’t be undone.',
} as const

export const workspaces = {
  title: 'Workspaces',
  loading: 'Loading workspaces…',
  columns: ['Workspace', 'Owner', 'Plan (migrations a month)', 'Members', 'Storage', 'Created'],
  owner: 'Owner',
  noOwner: 'none',
  members: 'Members',
  storage: 'Storage',
  created: 'Created',
  planOf: (name: string) => `Plan for ${name}`,
  deletedUntil: 'Deleted, can be restored until',
} as const

export const newAccount = {
  title: 'New account',
  submit: 'Create account',
  email: 'Email',
  emailExample: 'bob@example.com',
  name: 'Name',
  password: 'Initial password',
  passwordHint: 'At least 10 characters. Ask the user to change it after the first sign-in.',
  plan: 'Plan',
  planHint: 'Migrations a month.',
  created: (email: string) =>
    `${email} can sign in now. Send them the password over a secure channel.`,
  enterEmail: 'Enter an email address, such as bob@example.com.',
  minLength: (characters: number) => `Use at least ${characters} characters.`,
} as const

/** Each plan with the migrations a month that it allows. */
export const planNames = {
  free: 'free (1)',
  starter: 'starter (5)',
  pro: 'pro (20)',
  business: 'business (50)',
  enterprise: 'enterprise (no limit)',
} as const

export const audit = {
  title: 'Audit log',
  lead: 'Administrator actions are kept for 400 days and can’t be edited or deleted.',
  filter: 'Email, action or value',
  entries: (count: number) => counted(count, 'entry', 'entries'),
  loading: 'Loading the audit log…',
  empty: 'No administrator actions yet.',
  caption: 'Administrator actions',
  columns: ['Action', 'User', 'Time'],
  object: 'Object',
  token: 'Token',
  request: 'Request',
  details: 'Details',
  open: 'View',
  showOnly: (email: string) => `Show only the actions of ${email}`,
  onlyBy: (email: string) => `by ${email} ×`,
  showAll: 'Show everyone',
  change: (field: string, change: string) => `${fieldWords(field)}: ${change}`,
  withToken: (label: string) => (label ? `with the token “${label}”` : 'with an unnamed token'),
  detail: (name: string, value: string) => `${name}: ${value}`,
  yes: 'yes',
  no: 'no',
} as const

export const STATE_TONES: Record<State, { tone: Tone; word: string }> = {
  good: { tone: 'good', word: 'OK' },
  doubtful: { tone: 'warn', word: 'Warning' },
  bad: { tone: 'bad', word: 'Error' },
}

/** The verdict over all health checks, in a sentence. */
export function describeHealth(findings: Health['findings']): { tone: Tone; sentence: string } {
  const count = (state: State) => findings.filter((finding) => finding.state === state).length
  const [errors, warnings] = [count('bad'), count('doubtful')]
  if (errors > 0) return { tone: 'bad', sentence: `${counted(errors, 'check')} failed.` }
  if (warnings > 0)
    return { tone: 'warn', sentence: `Running, with ${counted(warnings, 'warning')}.` }
  return { tone: 'good', sentence: 'All checks passed.' }
}

/** `2 running, 1 queued`; null when there is no work. */
export function describeQueue({ running, ready, later }: Health['jobs'][number]): string | null {
  const parts: [number, string][] = [
    [running, 'running'],
    [ready, 'queued'],
    [later, 'scheduled'],
  ]
  const text = parts
    .flatMap(([count, state]) => (count > 0 ? [`${numberText(count)} ${state}`] : []))
    .join(', ')
  return text || null
}

/** `responseStatus` as `response status`. */
const fieldWords = (field: string) =>
  field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * The details of an audit entry as names and values. The account that was changed comes first, in
 * place of its id.
 */
export function describeDetails(
  details: AuditEntryRow['details'],
): [name: string, value: string][] {
  const { account, id, ...rest } = details
  const about = account ?? id
  const all = [
    ...(about === undefined ? [] : [[account ? 'account' : 'id', about] as const]),
    ...Object.entries(rest),
  ]
  return all.map(([name, value]) => [name, valueText(value)])
}

function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? audit.yes : audit.no
  return typeof value === 'string' ? value : JSON.stringify(value)
}

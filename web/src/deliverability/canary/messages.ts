import { counted, durationText } from '../../ui/text/format.ts'
import type { CanaryDay, CanaryResult } from './api.ts'

type Outcome = CanaryDay['outcome']

export const OUTCOME_NAMES: Record<Outcome, string> = {
  inbox: 'Inbox',
  category: 'Other folder',
  junk: 'Junk',
  late: 'Late',
  missing: 'Missing',
  refused: 'Refused',
  unknown: 'Unknown',
}

const PROVIDERS: Record<string, string> = {
  google: 'Google',
  microsoft: 'Microsoft',
  yahoo: 'Yahoo',
  fastmail: 'Fastmail',
}

export const providerName = (provider: string): string => PROVIDERS[provider] ?? provider

export const canary = {
  title: 'Canary',
  lead: 'A canary sends mails through your own server to mailboxes of yours, and finds where they arrive.',
  loading: 'Loading canaries…',
  create: 'Create canary',
  sender: 'Sender',
  senderExample: (domain: string) => `news@${domain}`,
  host: 'Submission server',
  hostExample: 'smtp.example.com',
  user: 'User name',
  password: 'Password',
  security: 'Encryption',
  starttls: 'STARTTLS (port 587)',
  tls: 'TLS (port 465)',
  port: 'Port',
  verify: 'Verify the certificate',
  every: 'Interval',
  hours: (hours: number) => (hours === 24 ? 'Every day' : `Every ${hours} hours`),
  missing: { sender: 'Enter a sender.', host: 'Enter a server.', user: 'Enter a user name.' },
  missingPassword: 'Enter a password.',
  wrongPort: 'Enter a port from 1 to 65535.',
  via: (host: string, hours: number) => `Through ${host}, every ${hours} hours.`,
  off: 'Off',
  next: 'Next mails:',
  run: 'Send now',
  turnOff: 'Turn off',
  turnOn: 'Turn on',
  remove: 'Delete',
  removing: (sender: string) => `Delete the canary of ${sender}?`,
  removingText: 'Its results are deleted, too.',
  seeds: 'Seeds',
  noSeeds: 'Add a mailbox of yours at each provider that matters to you.',
  seedColumns: ['Mailbox', 'Latest mail', 'Sent', 'Actions'],
  addSeed: 'Add seed',
  email: 'Email address of the mailbox',
  missingEmail: 'Enter an email address.',
  removingSeed: (email: string) => `Delete the seed ${email}?`,
  removingSeedText: 'Its results are deleted, too. The mailbox stays as it is.',
  waiting: 'On its way',
  none: 'No mail yet',
  bad: 'Doesn’t reach the inbox',
  blind: 'Can’t be checked',
  void: (reason: string) => `Doesn’t count: the mailbox lets the sender through (${reason}).`,
  folder: (folder: string) => `Folder: ${folder}`,
  delay: (seconds: number) => `Arrived after ${durationText(seconds)}`,
  days: 'Outcomes of the last 30 days',
  noDays: 'No results yet.',
  dayColumns: ['Day', 'Provider', 'Outcomes'],
  outcome: ({ outcome, count, voids }: Pick<CanaryDay, 'outcome' | 'count' | 'voids'>) =>
    `${OUTCOME_NAMES[outcome]}: ${count}${voids > 0 ? ` (${counted(voids, 'does', 'do')} not count)` : ''}`,
} as const

/** What is known of a mail besides its outcome. */
export function detailsOf({ folder, delaySeconds, voidReason, detail }: CanaryResult): string[] {
  return [
    voidReason === null ? null : canary.void(voidReason),
    folder === null || folder === 'INBOX' ? null : canary.folder(folder),
    delaySeconds === null ? null : canary.delay(delaySeconds),
    detail,
  ].filter((line) => line !== null)
}

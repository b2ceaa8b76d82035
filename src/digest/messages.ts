// Texts of the digest, of its API and of the page that unsubscribes.
import { counted } from '../counted.ts'

export const NO_RELAY = 'Email is not configured: this service has no mail relay (SMTP_URL).'
export const UNVERIFIED =
  'The email address of this account is not verified, so no digest is sent to it.'

/** Joins parts of a sentence: `a, b and c`. */
function listed(parts: string[]): string {
  return parts.length <= 1
    ? (parts[0] ?? '')
    : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

export const percent = (share: number) =>
  `${(Math.floor(share * 1_000) / 10).toFixed(1).replace(/\.0$/, '')}%`

/** `+0.4 points` */
export function pointsText(points: number): string {
  const rounded = Math.round(points * 10) / 10
  if (rounded === 0) return 'unchanged'
  return `${rounded > 0 ? '+' : '−'}${Math.abs(rounded).toFixed(1)} points`
}

const NAMES = { daily: 'Daily digest', weekly: 'Weekly digest', off: 'Weekly digest' } as const

export const head = {
  title: (frequency: keyof typeof NAMES) => NAMES[frequency],
  subject: (name: string, verdict: string, workspace: string) =>
    `${name} of ${workspace}: ${verdict}`,
  open: (problems: number) =>
    problems === 0 ? 'No open problems' : counted(problems, 'open problem'),
  attention: (objects: number) => `${counted(objects, 'object needs', 'objects need')} attention.`,
  changes: (parts: string[], since: string) =>
    parts.length === 0 ? `Nothing changed since ${since}.` : `Since ${since}: ${listed(parts)}.`,
  raised: (alerts: number) => counted(alerts, 'new alert'),
  resolved: (alerts: number) => `${alerts.toLocaleString('en')} resolved`,
  migrations: (ended: number) => counted(ended, 'migration ended', 'migrations ended'),
  recordChanges: (changes: number) => counted(changes, 'DNS change'),
  sourceChanges: (sources: number) => counted(sources, 'changed DMARC source'),
  expiring: (certificates: number, tokens: number) =>
    `Within 30 days, ${listed([...(certificates > 0 ? [counted(certificates, 'certificate')] : []), ...(tokens > 0 ? [counted(tokens, 'API token')] : [])])} ${certificates + tokens === 1 ? 'expires' : 'expire'}.`,
} as const

export const quiet = {
  checked: (hosts: number, domains: number) =>
    hosts + domains === 0
      ? 'No hosts or domains are monitored yet.'
      : `${listed([...(hosts > 0 ? [counted(hosts, 'monitored host')] : []), ...(domains > 0 ? [counted(domains, 'watched domain')] : [])])} checked.`,
  dmarc: (messages: number, rate: string, change: string) =>
    `DMARC: ${rate} of ${counted(messages, 'message')} passed in the last 7 days (${change}).`,
  noDmarc: 'DMARC: no messages reported in the last 7 days.',
} as const

export const open = {
  title: 'Open problems',
  severities: { critical: 'Critical', error: 'Error', warning: 'Warning', info: 'Info' },
  handling: { acknowledged: 'Acknowledged', snoozed: 'Snoozed', muted: 'Muted' },
  since: (day: string) => `Open since ${day}.`,
} as const

export const attention = {
  title: 'Needs attention',
  listed: 'Listed',
  listedTitle: (host: string, listings: number) =>
    `${host} is on ${counted(listings, 'blocklist')}`,
  certificate: 'Certificate',
  certificateTitle: {
    expired: (place: string) => `The certificate of ${place} has expired`,
    'not-yet-valid': (place: string) => `The certificate of ${place} is not valid yet`,
    'wrong-host': (place: string) => `The certificate of ${place} is for another host`,
    untrusted: (place: string) => `The certificate of ${place} is not trusted`,
  } as Record<string, (place: string) => string>,
  domain: 'Domain',
  domainTitle: (domain: string) => `${domain} has problems`,
  delisting: 'Delisting',
  delistingTitle: (ip: string, steps: number) =>
    `Delisting ${ip}: ${steps === 1 ? '1 step needs' : `${steps} steps need`} your action`,
  silent: 'No reports',
  silentTitle: (domain: string) => `DMARC reports about ${domain} stopped`,
  silentDetail: (day: string) =>
    `The last report arrived on ${day}. Check the rua address of the DMARC record and the mailbox behind it.`,
  unproven: 'Unverified',
  unprovenTitle: (domain: string) => `The proof for ${domain} is no longer published`,
  unprovenDetail: (day: string) =>
    `Missing since ${day}. Reports are rejected once it has been missing for too long.`,
  mailbox: 'Mailbox',
  mailboxTitle: (user: string) => `The report mailbox ${user} can’t be read`,
  endpoint: 'No requests',
  endpointTitle: (name: string) => `${name} receives no requests`,
  endpointDetail: (day: string) => `The last one arrived on ${day}.`,
  channel: 'Alerts',
  channelTitle: (name: string) => `Alerts to ${name} fail`,
  unchecked: 'Unknown',
  uncheckedTitle: (host: string) => `${host} couldn’t be checked`,
} as const

export const dmarc = {
  title: 'DMARC pass rates',
  lead: (days: string, before: string) => `Messages that passed, ${days}, compared with ${before}.`,
  none: 'no messages',
  noRate: 'No messages',
  summary: (messages: number, change: string) => `${counted(messages, 'message')}, ${change}`,
  first: 'no messages before',
  newSources: (names: string[], total: number) =>
    `${counted(total, 'new source')}: ${names.join(', ')}${total > names.length ? ', …' : ''}`,
  failingSources: (names: string[], total: number) =>
    `${counted(total, 'source')} began to fail: ${names.join(', ')}${total > names.length ? ', …' : ''}`,
  source: (name: string, messages: number) => `${name} (${counted(messages, 'message')})`,
  sourcesMissing: 'New sources couldn’t be read in time. The summary of each domain shows them.',
} as const

export const listings = {
  title: 'Listings',
  added: 'Listed',
  addedTitle: (host: string, list: string) => `${host} was listed on ${list}`,
  removed: 'Removed',
  removedTitle: (host: string, list: string) => `${host} was removed from ${list}`,
  delisted: 'Delisted',
  delistedTitle: (ip: string) => `${ip} is delisted`,
  failed: 'Failed',
  failedTitle: (ip: string, left: number) =>
    `The delisting of ${ip} ended on ${counted(left, 'blocklist')} without success`,
} as const

export const certificates = {
  title: 'Certificates',
  renewed: 'Renewed',
  renewedTitle: (place: string) => `The certificate of ${place} was renewed`,
  validUntil: (day: string) => `Valid until ${day}.`,
  changed: 'Changed',
  states: {
    valid: ['good', 'Valid', (place: string) => `The certificate of ${place} is valid again`],
    expiring: [
      'warning',
      'Expiring',
      (place: string) => `The certificate of ${place} was not renewed`,
    ],
    'expiring-soon': [
      'bad',
      'Expiring',
      (place: string) => `The certificate of ${place} expires soon`,
    ],
    expired: ['bad', 'Expired', (place: string) => `The certificate of ${place} expired`],
    'not-yet-valid': [
      'bad',
      'Not valid',
      (place: string) => `The certificate of ${place} became invalid`,
    ],
    'wrong-host': [
      'bad',
      'Wrong host',
      (place: string) => `The certificate of ${place} is for another host`,
    ],
    untrusted: [
      'bad',
      'Untrusted',
      (place: string) => `The certificate of ${place} is not trusted`,
    ],
  } as Record<string, ['good' | 'warning' | 'bad', string, (place: string) => string]>,
} as const

export const records = {
  title: 'DNS records',
  label: 'Changed',
  changed: (record: string) => `${record} changed`,
  added: (record: string) => `${record} was added`,
  removed: (record: string) => `${record} was removed`,
  detail: (before: string, after: string) => `Before: ${before}. Now: ${after}.`,
} as const

export const migrations = {
  title: 'Migrations',
  lead: (completed: number, failed: number, messages: number) =>
    `${listed([...(completed > 0 ? [`${completed.toLocaleString('en')} completed`] : []), ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : [])])}, ${counted(messages, 'message')}.`,
  completed: 'Completed',
  failed: 'Failed',
  row: (state: string, source: string, destination: string) =>
    `${state}: ${source} to ${destination}`,
  detail: (messages: number, errors: number) =>
    errors === 0
      ? `${counted(messages, 'message')}.`
      : `${counted(messages, 'message')}, ${counted(errors, 'error')}.`,
} as const

export const webhooks = {
  title: 'Webhooks',
  label: 'Rejected',
  unnamed: (id: string) => `Endpoint ${id.slice(0, 8)}`,
  row: (name: string, rejected: number, aborted: number) =>
    `${name}: ${listed([...(rejected > 0 ? [`${counted(rejected, 'request')} rejected`] : []), ...(aborted > 0 ? [`${counted(aborted, 'request')} aborted`] : [])])}`,
} as const

export const attacks = {
  title: 'Attack reports',
  label: 'Reports',
  row: (reports: number, before: number) =>
    `${counted(reports, 'report')} from your servers, ${before.toLocaleString('en')} in the 7 days before`,
  detail: (services: string[], addresses: number) =>
    addresses === 0
      ? `${services.join(', ')}.`
      : `${services.join(', ')}. ${counted(addresses, 'address', 'addresses')} that you reported ${addresses === 1 ? 'is' : 'are'} listed now.`,
} as const

export const alerts = {
  title: 'Other alerts',
  raised: 'New',
  resolved: 'Resolved',
} as const

export const expiring = {
  title: 'Expires within 30 days',
  certificate: 'Expires',
  certificateTitle: (place: string, day: string) => `Certificate of ${place}: ${day}`,
  token: 'Expires',
  tokenTitle: (name: string, day: string) => `API token ${name}: ${day}`,
  unnamed: (lastFour: string) => `that ends with ${lastFour}`,
} as const

export const footer = {
  reason: (email: string, workspace: string) =>
    `You get this digest at ${email} because you turned it on in the workspace “${workspace}”.`,
  next: (time: string) => `Next digest: ${time}.`,
  dashboard: 'Open dashboard',
  settings: 'Change settings',
  unsubscribe: 'Unsubscribe',
  more: (rows: number) => `And ${rows.toLocaleString('en')} more`,
  sentBy: (baseUrl: string) => `Portreeve at ${baseUrl}`,
} as const

export const unsubscribePage = {
  title: 'Unsubscribe from the digest',
  question: 'You’ll get no more digests of this workspace. Alerts aren’t affected.',
  button: 'Unsubscribe',
  done: 'You’re unsubscribed',
  doneText:
    'You’ll get no more digests of this workspace. You can turn them on again in the settings.',
  unknown: 'This link doesn’t work',
  unknownText:
    'It is incomplete, or it was changed. Sign in and turn off the digest in its settings, or use the link in a newer email.',
  settings: 'Digest settings',
} as const

/** Why a digest was not sent, or is not known to have arrived. */
export const NOT_CONFIRMED =
  'The service stopped while the relay had the email. It may have arrived, and isn’t sent again.'
export const LIMIT_REACHED = 'The limit of digests to this address or from this service is reached.'
export const ACCOUNT_DISABLED = 'The account is disabled.'
export const WORKSPACE_GONE = 'The workspace is deleted, or the account is no longer a member.'

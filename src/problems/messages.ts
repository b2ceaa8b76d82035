// Texts of problems: a sentence each, and the label of the button beside it.
import { counted } from '../counted.ts'
import { MAX_NAMED_HOSTS } from './limits.ts'

/** What happened, in a sentence. */
export const sentences = {
  listedHost: (host: string, blocklists: number) =>
    `${host} is on ${counted(blocklists, 'blocklist')}.`,
  moreListedHosts: (count: number) =>
    `${counted(count, 'more host')} ${count === 1 ? 'is' : 'are'} listed.`,
  listedAddress: (address: string, blocklists: number, hosts: number, domains: number) =>
    `${address} is on ${counted(blocklists, 'blocklist')} (${[
      counted(hosts, 'host'),
      domains > 0 && counted(domains, 'domain'),
    ]
      .filter(Boolean)
      .join(', ')}).`,
  moreDomains: (count: number) =>
    `${counted(count, 'more domain')} ${count === 1 ? 'has' : 'have'} problems.`,
  moreMigrations: (count: number) => `${counted(count, 'more migration')} failed.`,
  moreDelistings: (count: number) =>
    `${counted(count, 'more delisting')} ${count === 1 ? 'needs' : 'need'} your action.`,
  brokenDomain: (domain: string) => `${domain} has a problem.`,
  moreCertificates: (count: number) =>
    count === 1
      ? '1 more host has a problem with a certificate.'
      : `${counted(count, 'more host')} have a problem with a certificate.`,
  failedMigration: (user: string, errors: number) =>
    `Migration of ${user} failed with ${counted(errors, 'error')}.`,
  delisting: (ip: string, steps: number) =>
    `Delisting ${ip}: ${counted(steps, 'step')} ${steps === 1 ? 'needs' : 'need'} your action.`,
  failingMailbox: (user: string, host: string) =>
    `Can’t read reports from mailbox ${user} on ${host}.`,
  unconfirmedChannel: (target: string) =>
    `Alert channel ${target} isn’t confirmed: enter the code we sent there.`,
  disabledChannel: (target: string) =>
    `Alerts to ${target} were turned off after repeated failures.`,
  undeliverableChannel: (target: string) =>
    `Alerts to ${target} can’t be delivered: email isn’t configured.`,
  unverifiedDomains: (count: number) => `${counted(count, 'domain')} aren’t verified.`,
  unverifiedDomain: (domain: string) => `Verify ${domain}: publish its DMARC record.`,
  heldList: 'The new attack blocklist is on hold: it differs too much from the last one.',
  appeals: (count: number) => `${counted(count, 'appeal')} to review.`,
  candidates: (count: number) =>
    `${counted(count, 'reported address', 'reported addresses')} to list or discard.`,
} as const

/** `a.example, b.example, c.example and 2 more` */
export function hostNames(names: string[]): string {
  const more = names.length - MAX_NAMED_HOSTS
  const shown = names.slice(0, MAX_NAMED_HOSTS).join(', ')
  return more > 0 ? `${shown} and ${more.toLocaleString('en')} more` : shown
}

const CERTIFICATE_FACTS: Record<string, string> = {
  expired: 'has expired',
  untrusted: 'isn’t trusted',
  'not-yet-valid': 'isn’t valid yet',
}

/** The sentence about the hosts that present a certificate. */
export function certificateSentence(
  { state, daysRemaining }: { state: string; daysRemaining: number },
  hosts: string,
): string {
  if (state === 'wrong-host')
    return `${hosts} ${hosts.includes(', ') ? 'show' : 'shows'} the certificate of another host.`
  const fact = CERTIFICATE_FACTS[state] ?? `expires in ${counted(daysRemaining, 'day')}`
  return `The certificate of ${hosts} ${fact}.`
}

/** What to do about it. */
export const actions = {
  startDelisting: 'Start delisting',
  continueDelisting: 'Continue',
  viewListings: 'View listings',
  viewDomain: 'View fixes',
  viewHost: 'View host',
  viewHosts: 'View hosts',
  reviewMigration: 'Review migration',
  viewMigrations: 'View migrations',
  viewDelistings: 'View delistings',
  viewMailbox: 'View mailbox',
  viewChannels: 'View channels',
  viewDomains: 'View domains',
  viewRecord: 'View record',
  review: 'Review',
} as const

// Texts of alerts about watched domains.
import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import type { Severity } from '../../alerts/severity.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { STATE_NAMES } from '../messages.ts'
import type { DomainReport } from '../shapes.ts'
import { counted } from '../../counted.ts'
import type { StateChange } from './states.ts'

function incidentOf(domain: string): string {
  return `domain/${domain}`
}

function registrationOf(domain: string): string {
  return `domain/${domain}/registration`
}

/** A change that alerts of monitored hosts are about, with their titles. */
export type CoveredChange = StateChange & { alerts: string[] }

/** Alerts of monitored hosts that the text of one alert names. */
const MAX_NAMED_ALERTS = 5

/**
 * The alert about lines of a domain that became worse, all that were confirmed by one check.
 * @param covered lines that monitored hosts have alerts about; the text names them
 */
export function worseAlert(
  workspaceId: string,
  { domain, unicodeDomain, verdict, fixes }: DomainReport,
  { changes, covered }: { changes: StateChange[]; covered: CoveredChange[] },
  at: Date,
): NewAlert {
  const keys = changes.map(({ subject, after, since }) => `${subject} ${after} ${since}`)
  const lines = [
    ...changes.map((change) => `${describe(change)} ${change.summary}`),
    ...covered.map((change) => `${describe(change)} Already alerted: ${named(change.alerts)}.`),
  ]
  return {
    workspaceId,
    kind: 'domain.worse',
    key: `domain-worse ${workspaceId} ${domain} ${keys.join(',')}`,
    incident: incidentOf(domain),
    phase: 'open',
    severity: changes.some(({ after }) => after === 'bad') ? 'error' : 'warning',
    title: `${unicodeDomain} got worse: ${changes.map(({ title }) => title).join(', ')}`,
    text: [verdict.sentence, ...lines].join('\n\n'),
    nextStep:
      fixes.length > 0
        ? `Open the domain: it has ${counted(fixes.length, 'record')} to publish.`
        : 'Open the domain to see the details.',
    path: `/domains/${domain}`,
    objects: [domain],
    at,
  }
}

function describe({ title, before, after }: StateChange): string {
  return `${title}: ${STATE_NAMES[before]} → ${STATE_NAMES[after]}.`
}

function named(titles: string[]): string {
  const more = titles.length - MAX_NAMED_ALERTS
  return [...titles.slice(0, MAX_NAMED_ALERTS), ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

/** The alert about a domain whose lines are as good as before they got worse. */
export function recoveredAlert(
  workspaceId: string,
  { domain, unicodeDomain, verdict, checkedAt }: DomainReport,
): ResolvingAlert {
  return {
    workspaceId,
    kind: 'domain.recovered',
    key: `domain-recovered ${workspaceId} ${domain} ${checkedAt}`,
    incident: incidentOf(domain),
    title: `Resolved: ${unicodeDomain} has recovered`,
    text: verdict.sentence,
    nextStep: '',
    path: `/domains/${domain}`,
    objects: [domain],
    at: new Date(checkedAt),
  }
}

/** The alert about a registration that was extended. */
export function renewedAlert(
  workspaceId: string,
  domain: string,
  expiresAt: Date,
  at: Date,
): ResolvingAlert {
  const day = isoDay(expiresAt)
  return {
    workspaceId,
    kind: 'domain.renewed',
    key: `domain-renewed ${workspaceId} ${domain} ${day}`,
    incident: registrationOf(domain),
    title: `Resolved: the registration of ${domain} was renewed`,
    text: `It now ends on ${day}.`,
    nextStep: '',
    path: `/domains/${domain}`,
    objects: [domain],
    at,
  }
}

/** Days before the end of a registration from which an alert about it is an error, or critical. */
const ERROR_DAYS = 14
const CRITICAL_DAYS = 1

function severityOf(threshold: number): Severity {
  if (threshold <= CRITICAL_DAYS) return 'critical'
  return threshold <= ERROR_DAYS ? 'error' : 'warning'
}

/** The alert about the end of a registration. */
export function expiryAlert(
  workspaceId: string,
  domain: string,
  { expiresAt, registrar }: { expiresAt: Date; registrar: string | null },
  { threshold, at }: { threshold: number; at: Date },
): NewAlert {
  const day = isoDay(expiresAt)
  const days = Math.floor((expiresAt.getTime() - at.getTime()) / DAY_MS)
  const where = registrar === null ? 'at its registrar' : `at its registrar, ${registrar}`
  return {
    workspaceId,
    kind: 'domain.expires',
    key: `domain-expires ${workspaceId} ${domain} ${day} ${threshold}`,
    incident: registrationOf(domain),
    phase: 'open',
    severity: severityOf(threshold),
    title:
      days < 0
        ? `The registration of ${domain} has expired`
        : `The registration of ${domain} ends ${days === 0 ? 'within a day' : `in ${counted(days, 'day')}`}`,
    text:
      days < 0
        ? `It ended on ${day}. Mail and websites of the domain can stop at any time, and others may register it later.`
        : `It ends on ${day}. After that, mail and websites of the domain stop working.`,
    nextStep: `Renew it ${where}. If it renews automatically, check the payment method.`,
    path: `/domains/${domain}`,
    objects: [domain],
    at,
  }
}

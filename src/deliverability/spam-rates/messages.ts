import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import { SPAM_RATE_FORGET_DAYS } from '../limits.ts'
import type { SpamRateAlertRow } from './spam-rate-alerts.sql.ts'
import {
  rateText,
  type KnownSpamRate,
  type SpamRateLevel,
  type SpamRateSubject,
} from './spam-rate.ts'

const LIMITS: Record<SpamRateLevel, string> = { raised: '0.1%', high: '0.3%' }

const incidentOf = ({ domain, provider }: SpamRateSubject) => `spam-rate/${domain}/${provider}`

/** The alert about a rate that reached a limit, or went from 0.3% below it. */
export function spamRateAlert(
  { workspaceId, domain, provider, level, since }: SpamRateAlertRow,
  { rate, providerName, basis }: KnownSpamRate,
  before: SpamRateLevel | undefined,
): NewAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'deliverability.spam-rate',
    key: `spam-rate ${domain} ${provider} ${level} ${since.toISOString()} ${at.toISOString()}`,
    incident: incidentOf({ workspaceId, domain, provider }),
    phase: before === undefined ? 'open' : 'update',
    severity: level === 'high' ? 'error' : 'warning',
    title: `The spam rate of ${domain} is ${rateText(rate)} at ${providerName}`,
    text: `${basis} ${
      level === 'high'
        ? `From ${LIMITS.high} on, receivers deliver mail to spam or refuse it.`
        : `Receivers expect less than ${LIMITS.raised}, and never ${LIMITS.high}.`
    }`,
    nextStep:
      'Open the domain to see which source and campaign people complain about. Pause that campaign, and send only to people who asked for it.',
    path: `/domains/${domain}/deliverability`,
    objects: [domain],
    at,
  }
}

/** @param known null when the rate has not been known for long */
export function endedAlert(
  { workspaceId, domain, provider, since }: SpamRateAlertRow,
  known: Pick<KnownSpamRate, 'rate' | 'providerName' | 'basis'> | null,
): ResolvingAlert {
  return {
    workspaceId,
    kind: 'deliverability.spam-rate-normal',
    key: `spam-rate ${domain} ${provider} ended ${since.toISOString()}`,
    incident: incidentOf({ workspaceId, domain, provider }),
    title: known
      ? `Resolved: the spam rate of ${domain} is ${rateText(known.rate)} at ${known.providerName}`
      : `Closed: the spam rate of ${domain} is unknown`,
    text: known
      ? known.basis
      : `The provider has sent no data for ${SPAM_RATE_FORGET_DAYS} days. That doesn’t mean that the rate is low.`,
    nextStep: '',
    path: `/domains/${domain}/deliverability`,
    objects: [domain],
    at: new Date(),
  }
}

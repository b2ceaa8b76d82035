import { alertLink, type LinkTarget } from '../alert-link.ts'
import { MAX_ALERTS_PER_MAIL } from '../limits.ts'
import { alertEmail } from '../messages.ts'
import { actionsLine } from '../silence/messages.ts'
import type { AlertRow } from '../alerts.sql.ts'
import { renderAlertHtml } from './email-html.ts'
import { oneLine, plain } from './notification.ts'

/**
 * Composes the email for these alerts, oldest first: the alert itself, or a digest of several.
 * @param actionPageOf the page on which people act on the incident of an alert; null for none
 */
export function composeEmail(
  alerts: readonly AlertRow[],
  target: LinkTarget,
  actionPageOf: (alert: AlertRow) => string | null = () => null,
): { subject: string; text: string; html: string } {
  const [first] = alerts
  if (!first) throw new RangeError('an email needs at least one alert')
  const isDigest = alerts.length > 1
  const shown = alerts.slice(0, MAX_ALERTS_PER_MAIL)
  const hidden = alerts.length - shown.length
  const titles = shown.map(({ title }) => oneLine(title))
  const sections = [
    ...(isDigest ? [alertEmail.digest(alerts.length, titles)] : []),
    ...shown.map((alert) => section(alert, target, actionPageOf(alert))),
    ...(hidden > 0 ? [alertEmail.more(hidden)] : []),
    alertEmail.footer(target.baseUrl),
  ]
  const subject = isDigest ? alertEmail.digestSubject(alerts.length, first.title) : first.title
  return {
    subject: oneLine(subject).slice(0, MAX_SUBJECT_LENGTH),
    text: `${sections.join('\n\n')}\n`,
    html: renderAlertHtml(shown, hidden, target, actionPageOf),
  }
}

function section(alert: AlertRow, target: LinkTarget, actionPage: string | null): string {
  const { nextStep, at } = alert
  const title = oneLine(alert.title)
  const link = alertLink(alert, target)
  const parts = [
    `${title}\n${'='.repeat(Math.min(title.length, 72))}`,
    plain(alert.text),
    ...(nextStep ? [alertEmail.nextStep(plain(nextStep))] : []),
    ...(link ? [alertEmail.link(link)] : []),
    ...(actionPage ? [actionsLine(actionPage)] : []),
  ]
  return `${parts.join('\n\n')}\n\n${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Characters of a subject that clients show. */
const MAX_SUBJECT_LENGTH = 200

import { TOLD_IN_ONE } from '../limits.ts'
import { linkOf } from '../link.ts'
import type { AlertRow } from '../store.ts'

export type Composed = { subject: string; text: string }

/**
 * A mail about these alerts, the oldest first: the whole of it when there is one, a digest when there are more.
 * @param baseUrl where people reach the service
 */
export function compose(alerts: readonly AlertRow[], baseUrl: string): Composed {
  const [only] = alerts
  if (!only) throw new RangeError('a mail needs something to tell')
  const told = alerts.slice(0, TOLD_IN_ONE)
  const left = alerts.length - told.length
  const subject = alerts.length === 1 ? only.title : `${alerts.length} alerts: ${only.title}, …`
  const sections = [
    ...(alerts.length > 1
      ? [`${alerts.length} things happened:\n${told.map(({ title }) => `- ${title}`).join('\n')}`]
      : []),
    ...told.map((alert) => section(alert, baseUrl)),
    ...(left > 0 ? [`And ${left} more.`] : []),
    `-- \nPortreeve at ${baseUrl}\nYou get this because an alert channel there sends to this address.`,
  ]
  return { subject: oneLine(subject), text: `${sections.join('\n\n')}\n` }
}

function section(alert: AlertRow, baseUrl: string): string {
  const { title, text, nextStep, at } = alert
  const link = linkOf(alert, baseUrl)
  const parts = [
    `${title}\n${'='.repeat(Math.min(title.length, 72))}`,
    text,
    ...(nextStep ? [`What to do: ${nextStep}`] : []),
    ...(link ? [`In the dashboard: ${link}`] : []),
  ]
  return `${parts.join('\n\n')}\n\n${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Characters of a subject that clients show. */
const SUBJECT_LENGTH = 200

/** Titles hold names that strangers chose: a line end in one would begin another header. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, SUBJECT_LENGTH)
}

import { alertLink, dashboardLink, type LinkTarget } from '../alert-link.ts'
import { alertEmail, groupedAlerts } from '../messages.ts'
import { SEVERITIES, type Phase, type Severity } from '../severity.ts'
import type { AlertRow } from '../alerts.sql.ts'

/** One message to a service: an alert, or several as one. */
export type Notification = {
  /** One line, cut to the limit of the type. */
  title: string
  /** What happened and what to do, cut to the limit of the type. Not escaped. */
  text: string
  severity: Severity
  /** `once` for several alerts. */
  phase: Phase
  /** Page of the dashboard; null where there is none. */
  link: string | null
  at: Date
  alerts: readonly AlertRow[]
}

/** Characters of a text, counted as people see them. */
export type TextLimits = { title: number; text: number }

/** Composes the message for these alerts, oldest first. */
export function composeNotification(
  alerts: readonly AlertRow[],
  limits: TextLimits,
  target: LinkTarget,
): Notification {
  const [first] = alerts
  if (!first) throw new RangeError('a notification needs at least one alert')
  const whole = alerts.length === 1 ? composeOne(first, target) : composeGroup(alerts, target)
  return {
    ...whole,
    title: cut(oneLine(whole.title), limits.title),
    text: cut(whole.text, limits.text),
    alerts,
  }
}

function composeOne(alert: AlertRow, target: LinkTarget) {
  const { title, text, nextStep, severity, phase, at } = alert
  const parts = [text, ...(nextStep ? [alertEmail.nextStep(nextStep)] : [])]
  return { title, text: parts.join('\n\n'), severity, phase, at, link: alertLink(alert, target) }
}

/** Different titles shown in a grouped message; the alerts with others are counted. */
const MAX_TITLES = 20

function composeGroup(alerts: readonly AlertRow[], target: LinkTarget) {
  const ended = alerts.filter(({ phase }) => phase === 'resolved')
  const begun = alerts.filter(({ phase }) => phase !== 'resolved')
  const bySeverity = begun.toSorted((a, b) => rank(a) - rank(b))
  const byTitle = Map.groupBy([...bySeverity, ...ended], ({ title }) => cut(oneLine(title), 120))
  const shown = [...byTitle].slice(0, MAX_TITLES)
  const hidden = shown.reduce((left, [, same]) => left - same.length, alerts.length)
  const titles = shown.map(([title, same]) => groupedAlerts.repeated(title, same.length))
  return {
    title: groupedAlerts.title(begun.length, ended.length),
    text: groupedAlerts.text(titles, hidden),
    severity: bySeverity[0]?.severity ?? ('info' as const),
    phase: begun.length === 0 ? ('resolved' as const) : ('once' as const),
    at: (alerts.at(-1) as AlertRow).at,
    link: dashboardLink('/alerts/history', target),
  }
}

const rank = ({ severity }: AlertRow) => SEVERITIES.indexOf(severity)

/**
 * Invisible characters that change the direction of what follows (U+061C, U+200E to U+202E, U+2066
 * to U+2069), and control characters.
 */
const TRICKS = /[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]|(?![\n\t])\p{Cc}/gu

/** Removes what could make a text look like another one. */
export function plain(text: string): string {
  return text.replaceAll(TRICKS, '')
}

/** Makes one line of a title, which contains names that strangers chose. */
export function oneLine(text: string): string {
  return plain(text).replaceAll(/\s+/gu, ' ').trim()
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Cuts a text between graphemes, so that no emoji is torn.
 * @param limit in UTF-16 code units; services count at most those
 */
export function cut(text: string, limit: number): string {
  const clean = plain(text)
  if (clean.length <= limit) return clean
  let end = 0
  // What lies beyond cannot matter; a segmenter is slow on long texts.
  for (const { segment, index } of GRAPHEMES.segment(clean.slice(0, limit + 64))) {
    if (index + segment.length > limit - 1) break
    end = index + segment.length
  }
  return `${clean.slice(0, end).trimEnd()}…`
}

/** Cuts a text to bytes of UTF-8. */
export function cutBytes(text: string, limit: number): string {
  return cutUntil(text, (shorter) => Buffer.byteLength(shorter) <= limit)
}

/** Cuts a text to bytes of UTF-8 in JSON. */
export function cutJson(text: string, limit: number): string {
  return cutUntil(text, (shorter) => Buffer.byteLength(JSON.stringify(shorter)) <= limit)
}

function cutUntil(text: string, fits: (shorter: string) => boolean): string {
  let length = text.length
  let shorter = text
  while (!fits(shorter)) {
    length = Math.floor(length * 0.9)
    shorter = cut(text, length)
  }
  return shorter
}

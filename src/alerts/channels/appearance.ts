import { createHash } from 'node:crypto'
import type { Phase, Severity } from '../severity.ts'
import type { ActionLink } from '../silence/links/action-links.ts'
import { cut } from './notification.ts'

type Appearance = { severity: Severity; phase: Phase }

const EMOJI: Record<Severity, string> = { critical: '🚨', error: '🔴', warning: '🟠', info: '🔵' }

const COLOR: Record<Severity, string> = {
  critical: '#b91c1c',
  error: '#dc2626',
  warning: '#d97706',
  info: '#2563eb',
}

/** The title after an emoji of its severity, or a check mark at the end. Not escaped. */
export function headingOf({ title, severity, phase }: Appearance & { title: string }): string {
  return `${phase === 'resolved' ? '✅' : EMOJI[severity]} ${title}`
}

/** `#rrggbb`. */
export function colorOf({ severity, phase }: Appearance): string {
  return phase === 'resolved' ? '#16a34a' : COLOR[severity]
}

export const OPEN_LABEL = 'Open in Portreeve'

/** Characters that the links of a message may need, with their markup. */
export const MAX_ACTIONS_LENGTH = 1_000

/** The links of a message in one line of Markdown; null without links. */
export function markdownActions(actions: readonly ActionLink[]): string | null {
  const links = actions.map(({ label, url }) => `[${label}](${url})`)
  return links.length === 0 ? null : links.join(' · ')
}

/** The links of a message in one line of HTML; null without links. */
export function htmlActions(actions: readonly ActionLink[]): string | null {
  const links = actions.map(({ label, url }) => `<a href="${escapeHtml(url)}">${label}</a>`)
  return links.length === 0 ? null : links.join(' · ')
}

/** Joins the parts of a message that there are. */
export function joined(parts: (string | null)[], between = '\n\n'): string {
  return parts.filter((part) => part !== null && part !== '').join(between)
}

/** Names a problem, or a message that is about none, in 32 characters. */
export function problemKey({ incident, id }: { incident: string | null; id: string }): string {
  return createHash('sha256')
    .update(incident ?? id)
    .digest('hex')
    .slice(0, 32)
}

/** Escapes as much of a text as fits, without tearing an escape. */
export function escapeTo(text: string, limit: number, escape: (text: string) => string): string {
  let shorter = text
  while (escape(shorter).length > limit) shorter = cut(shorter, Math.floor(shorter.length * 0.9))
  return escape(shorter)
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Escapes Markdown, and mentions, which backslashes do not. */
export function escapeMarkdown(text: string): string {
  return breakMentions(text.replaceAll(/[\\`*_~[\]<>|#]/g, String.raw`\$&`))
}

/**
 * Makes text of `@channel` and `@name` with a space of no width; in an email address nothing changes.
 */
export function breakMentions(text: string): string {
  return text.replaceAll(/(?<![\p{L}\p{N}])@/gu, '@\u200B')
}

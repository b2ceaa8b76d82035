import type { DigestDocument, Item, PassRate, Section } from '../content/digest-document.ts'
import { footer as messages } from '../messages.ts'

/**
 * Renders a digest as plain text: for clients without HTML, and for readers who prefer it.
 * @param baseUrl public URL of the service
 */
export function renderText(digest: DigestDocument, baseUrl: string): string {
  const { title, subtitle, verdict, quiet, sections, homeUrl } = digest
  const parts = [
    underlined(`${title}: ${subtitle}`, '='),
    [`${verdict.title}.`, verdict.text, ...quiet].join('\n'),
    ...sections.map(section),
    `${messages.dashboard}: ${homeUrl}`,
    footer(digest, baseUrl),
  ]
  return `${parts.join('\n\n')}\n`
}

function section({ title, lead, items, rates = [], more, url }: Section): string {
  return [
    underlined(title, '-'),
    ...(lead ? [lead] : []),
    [...items.map(item), ...rates.map(rate)].join('\n'),
    ...(more > 0 ? [`${messages.more(more)}: ${url}`] : []),
  ].join('\n\n')
}

function item({ title, detail, url }: Item): string {
  return [`- ${title}`, ...[detail, url].filter(Boolean).map((line) => `  ${line}`)].join('\n')
}

function rate({ domain, rate: text, summary, notes, url }: PassRate): string {
  return [
    `- ${domain}: ${text}, ${summary}`,
    ...notes.map((note) => `  ${note.text}`),
    `  ${url}`,
  ].join('\n')
}

function footer(
  { footer: { reason, next, settingsUrl, unsubscribeUrl } }: DigestDocument,
  baseUrl: string,
): string {
  return [
    '-- ',
    messages.sentBy(baseUrl),
    reason,
    ...(next ? [next] : []),
    `${messages.settings}: ${settingsUrl}`,
    ...(unsubscribeUrl ? [`${messages.unsubscribe}: ${unsubscribeUrl}`] : []),
  ].join('\n')
}

function underlined(title: string, line: string): string {
  return `${title}\n${line.repeat(Math.min(Array.from(title).length, 72))}`
}

import type { OpenProblem } from '../../alerts/alerts-digest.sql.ts'
import { open as messages } from '../messages.ts'
import type { Item, Section, Tone } from './digest-document.ts'
import type { DigestFacts } from './facts.ts'
import type { DigestLinks } from './links.ts'
import { rowsOf, sectionOf } from './sections.ts'
import { oneLine } from '../../http/shown-name.ts'
import { dayText } from './fact-text.ts'

const TONES: Record<OpenProblem['severity'], Tone> = {
  critical: 'bad',
  error: 'bad',
  warning: 'warning',
  info: 'neutral',
}

/** The open problems of the page of alerts, the most severe first. */
export function openSection(
  { open, settings: { timeZone } }: DigestFacts,
  links: DigestLinks,
): Section | null {
  const item = ({ severity, title, path, openedAt, handling }: OpenProblem): Item => ({
    tone: handling === null ? TONES[severity] : 'neutral',
    label: handling === null ? messages.severities[severity] : messages.handling[handling],
    title: oneLine(title),
    detail: messages.since(dayText(openedAt, timeZone)),
    ...(path && { url: links.page(path) }),
  })
  return sectionOf(messages.title, links.page('/alerts'), [rowsOf(open, item)])
}

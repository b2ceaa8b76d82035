import { MAX_TOTAL_ROWS, MIN_SECTION_ROWS, STEADY_POINTS } from '../limits.ts'
import { footer, head, percent, pointsText, quiet } from '../messages.ts'
import { attentionSection, countAttention } from './attention-section.ts'
import { changeOf, dmarcSection } from './dmarc-section.ts'
import type { DigestDocument, Section, Tone } from './digest-document.ts'
import type { DigestFacts } from './facts.ts'
import { createLinks } from './links.ts'
import { openSection } from './open-section.ts'
import {
  alertSection,
  attackSection,
  certificateSection,
  expirySection,
  listingSection,
  migrationSection,
  recordSection,
  webhookSection,
} from './sections.ts'
import { oneLine } from '../../http/shown-name.ts'
import { dayText, timeText } from './fact-text.ts'

export type ComposeOptions = {
  /** Public URL of the service. */
  baseUrl: string
  email: string
  /** Null in a preview. */
  unsubscribeUrl: string | null
}

/** Composes a digest: the verdict first, then what is open, then what changed. */
export function composeDigest(facts: DigestFacts, options: ComposeOptions): DigestDocument {
  const { settings, period, nextAt } = facts
  const links = createLinks(options.baseUrl, facts.workspaceId)
  const workspace = oneLine(facts.workspace, 60)
  const title = head.title(settings.frequency)
  const since = dayText(period.from, settings.timeZone)
  const verdict = verdictOf(facts, since)
  const isQuiet = isQuietPeriod(facts)
  const changes = [
    openSection(facts, links),
    attentionSection(facts, links),
    dmarcSection(facts, links),
    listingSection(facts, links),
    certificateSection(facts, links),
    recordSection(facts, links),
    migrationSection(facts, links),
    webhookSection(facts, links),
    attackSection(facts, links),
    alertSection(facts, links),
    expirySection(facts, links),
  ]
  return {
    subject: head.subject(title, verdict.title.toLowerCase(), workspace),
    preheader: verdict.text,
    title,
    subtitle: `${workspace}, ${since} – ${dayText(period.to, settings.timeZone)}`,
    verdict,
    quiet: isQuiet ? quietLines(facts) : [],
    sections: isQuiet ? [] : shortened(changes.filter((section) => section !== null)),
    homeUrl: links.page('/home'),
    footer: {
      reason: footer.reason(options.email, workspace),
      next: nextAt && footer.next(timeText(nextAt, settings.timeZone)),
      settingsUrl: links.settings,
      unsubscribeUrl: options.unsubscribeUrl,
    },
  }
}

/** Shortens the last sections where all of them together are too long. */
function shortened(sections: Section[]): Section[] {
  let left = MAX_TOTAL_ROWS
  return sections.map((section) => {
    const limit = Math.max(MIN_SECTION_ROWS, left)
    const { items, rates = [], more } = section
    const rows = items.length + rates.length
    left -= Math.min(rows, limit)
    if (rows <= limit) return section
    return {
      ...section,
      items: items.slice(0, limit),
      rates: rates.slice(0, limit),
      more: rows - limit + more,
    }
  })
}

function verdictOf(facts: DigestFacts, since: string): DigestDocument['verdict'] {
  const problems = facts.open.total
  const attention = countAttention(facts)
  const parts = changeParts(facts)
  const tone: Tone = problems > 0 ? 'bad' : attention > 0 ? 'warning' : 'good'
  return {
    tone,
    title: head.open(problems),
    text: [
      ...(attention > 0 ? [head.attention(attention)] : []),
      head.changes(parts, since),
      ...expirySentence(facts),
    ].join(' '),
  }
}

function expirySentence({ expiring: { certificates, tokens } }: DigestFacts): string[] {
  const isEmpty = certificates.total + tokens.total === 0
  return isEmpty ? [] : [head.expiring(certificates.total, tokens.total)]
}

function changeParts({ changes, sources }: DigestFacts): string[] {
  const { counts, records, domainRecords, migrations } = changes
  const parts: [number, (count: number) => string][] = [
    [counts.raised, head.raised],
    [counts.resolved, head.resolved],
    [records.total + domainRecords.total, head.recordChanges],
    [migrations.total, head.migrations],
    [countSources(sources), head.sourceChanges],
  ]
  return parts.filter(([count]) => count > 0).map(([count, text]) => text(count))
}

function countSources(sources: DigestFacts['sources']): number {
  const groups = Map.groupBy(sources ?? [], ({ domainId, change }) => `${domainId} ${change}`)
  return [...groups.values()].reduce((sum, [first]) => sum + (first?.total ?? 0), 0)
}

/** Nothing is open, nothing changed, nothing expires, and every pass rate is steady. */
function isQuietPeriod({
  open,
  attention,
  changes,
  dmarc,
  sources,
  expiring,
}: DigestFacts): boolean {
  const { counts, migrations, ...lists } = changes
  const isEmpty = (list: Record<string, { total: number }>) =>
    Object.values(list).every(({ total }) => total === 0)
  return (
    open.total === 0 &&
    isEmpty(attention) &&
    isEmpty(lists) &&
    isEmpty(expiring) &&
    counts.raised + counts.resolved + migrations.total === 0 &&
    sources?.length === 0 &&
    dmarc.rows.every((row) => Math.abs(changeOf(row) ?? 0) < STEADY_POINTS)
  )
}

function quietLines({ monitored, dmarc }: DigestFacts): string[] {
  const sum = (of: 'messages' | 'passed' | 'messagesBefore' | 'passedBefore') =>
    dmarc.rows.reduce((total, row) => total + row[of], 0)
  const sums = {
    messages: sum('messages'),
    passed: sum('passed'),
    messagesBefore: sum('messagesBefore'),
    passedBefore: sum('passedBefore'),
  }
  const rate =
    sums.messages === 0
      ? quiet.noDmarc
      : quiet.dmarc(
          sums.messages,
          percent(sums.passed / sums.messages),
          pointsText(changeOf(sums) ?? 0),
        )
  return [quiet.checked(monitored.hosts, monitored.domains), ...(dmarc.total > 0 ? [rate] : [])]
}

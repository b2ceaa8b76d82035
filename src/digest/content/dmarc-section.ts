import { nameSender } from '../../dmarc/senders/senders.ts'
import type { ChangedSource, DomainComparison } from '../../dmarc/dmarc-digest.sql.ts'
import { dmarc as messages, percent, pointsText } from '../messages.ts'
import type { PassRate, Section, Tone } from './digest-document.ts'
import type { DigestFacts } from './facts.ts'
import type { DigestLinks } from './links.ts'
import { oneLine } from '../../http/shown-name.ts'
import { daysText } from './fact-text.ts'

/** The pass rate of every verified domain, with its changed sources. */
export function dmarcSection(
  { dmarc, sources, days }: DigestFacts,
  links: DigestLinks,
): Section | null {
  if (dmarc.rows.length === 0) return null
  const byDomain = Map.groupBy(sources ?? [], ({ domainId }) => domainId)
  const lead = messages.lead(daysText(days.now), daysText(days.before))
  return {
    title: messages.title,
    lead: sources === null ? `${lead} ${messages.sourcesMissing}` : lead,
    items: [],
    rates: dmarc.rows.map((row) => rateOf(row, byDomain.get(row.id) ?? [], links)),
    more: dmarc.total - dmarc.rows.length,
    url: links.page('/dmarc'),
  }
}

/** Change of the pass rate in percentage points; null where one of the periods has no messages. */
export function changeOf({
  messages: now,
  passed,
  messagesBefore,
  passedBefore,
}: Omit<DomainComparison, 'id' | 'domain'>): number | null {
  if (now === 0 || messagesBefore === 0) return null
  return (passed / now - passedBefore / messagesBefore) * 100
}

function rateOf(row: DomainComparison, sources: ChangedSource[], links: DigestLinks): PassRate {
  const share = row.messages === 0 ? null : row.passed / row.messages
  const change = changeOf(row)
  const changeText = change === null ? messages.first : pointsText(change)
  return {
    domain: oneLine(row.domain),
    url: links.dmarcDomain(row.id),
    share,
    rate: share === null ? messages.noRate : percent(share),
    summary: share === null ? messages.none : messages.summary(row.messages, changeText),
    tone: toneOf(share),
    notes: notesOf(row.domain, sources),
  }
}

function toneOf(share: number | null): Tone {
  if (share === null) return 'neutral'
  return share >= 0.98 ? 'good' : share >= 0.9 ? 'warning' : 'bad'
}

function notesOf(domain: string, sources: ChangedSource[]): PassRate['notes'] {
  return (['failing', 'new'] as const).flatMap((change): PassRate['notes'] => {
    const changed = sources.filter((source) => source.change === change)
    const [first] = changed
    if (!first) return []
    const names = changed.map((source) =>
      messages.source(oneLine(nameOf(domain, source), 80), source.messages),
    )
    return change === 'failing'
      ? [{ tone: 'bad', text: messages.failingSources(names, first.total) }]
      : [{ tone: 'neutral', text: messages.newSources(names, first.total) }]
  })
}

/** `mail.example.net (192.0.2.1)`: the sender, and its address where that says more. */
function nameOf(domain: string, source: ChangedSource): string {
  const { name } = nameSender(domain, source)
  return name === source.source ? name : `${name}, ${source.source}`
}

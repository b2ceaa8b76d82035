import { Link } from '@tanstack/react-router'
import { CardGrid, LinkCard } from '../ui/layout/card-grid.tsx'
import { Ago } from '../ui/text/ago.tsx'
import type { DomainSummary } from './api.ts'
import { list as messages, stateNames } from './messages.ts'
import { SmallMailPath } from './small-mail-path.tsx'
import { LINE_TONES } from './tones.ts'

/** Domains as cards, each with its mail path and the verdict of its last check. */
export function DomainGrid({
  domains,
  short = false,
}: {
  domains: DomainSummary[]
  /** Fewer cards on a phone. */
  short?: boolean
}) {
  return (
    <CardGrid short={short}>
      {domains.map((domain) => (
        <DomainCard key={domain.domain} {...domain} />
      ))}
    </CardGrid>
  )
}

function DomainCard(summary: DomainSummary) {
  const { domain, isWatched, state, sentence, stages, checkedAt, hostCount } = summary
  return (
    <LinkCard
      title={
        <Link to="/domains/$domain" params={{ domain }} title={domain}>
          {domain}
        </Link>
      }
      status={{ tone: LINE_TONES[state], word: stateNames[state] }}
      text={state === 'good' || sentence === null ? null : messages.verdict(domain, sentence)}
      foot={
        <>
          {!isWatched && <span>{messages.notWatched}</span>}
          {checkedAt !== null ? (
            <span>
              {messages.checked} <Ago at={checkedAt} />
            </span>
          ) : (
            hostCount > 0 && <span>{messages.hosts(hostCount)}</span>
          )}
        </>
      }
    >
      {isWatched && <SmallMailPath stages={stages} />}
    </LinkCard>
  )
}

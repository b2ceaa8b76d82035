import { Link } from '@tanstack/react-router'
import { Status } from '../ui/feedback/status.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Ago } from '../ui/text/ago.tsx'
import type { DomainSummary } from './api.ts'
import classes from './domain-grid.module.css'
import { list as messages, stateNames } from './messages.ts'
import { LINE_TONES } from './tones.ts'

/** Domains as cards, each with the verdict of its last check. */
export function DomainGrid({ domains }: { domains: DomainSummary[] }) {
  return (
    <ul className={classes.grid} data-rows>
      {domains.map((domain) => (
        <DomainCard key={domain.domain} {...domain} />
      ))}
    </ul>
  )
}

function DomainCard({ domain, isWatched, state, sentence, checkedAt, hosts }: DomainSummary) {
  return (
    <li className={classes.card} data-tone={LINE_TONES[state]}>
      <div className={classes.head}>
        <h3>
          <Link to="/domains/$domain" params={{ domain }}>
            {domain}
          </Link>
        </h3>
        <Status tone={LINE_TONES[state]}>{stateNames[state]}</Status>
      </div>
      {sentence !== null && <p>{sentence}</p>}
      <Muted>
        {isWatched ? messages.watched : messages.notWatched}
        {hosts.length > 0 && ` · ${messages.hosts(hosts.length)}`}
        {checkedAt !== null && (
          <>
            {' '}
            · {messages.lastChecked} <Ago at={checkedAt} />
          </>
        )}
      </Muted>
    </li>
  )
}

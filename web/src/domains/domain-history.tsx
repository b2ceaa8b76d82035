import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useRef } from 'react'
import { loadScreen } from '../frame/load-screen.ts'
import { Loading, LoadingOrError } from '../ui/feedback/loading.tsx'
import { Muted, Section } from '../ui/layout/page.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { useNearWindow } from '../ui/use-near-window.ts'
import { historyQuery, type DomainHistory as History } from './api.ts'
import classes from './domain-history.module.css'
import { history as messages } from './messages.ts'

/** A file of its own: a phone shows the rest of the page sooner without the charts. */
const PassRate = lazy(async () => ({
  default: (await loadScreen('the pass rate', () => import('./pass-rate.tsx'))).PassRate,
}))

/**
 * The pass rate of a domain, and changes of its records, listings and certificates; loaded when it
 * is near the window.
 */
export function DomainHistory({ domain }: { domain: string }) {
  const place = useRef<HTMLDivElement>(null)
  const isNear = useNearWindow(place)
  const loading = <Loading lines={3}>{messages.loading}</Loading>
  return (
    <Section title={messages.title}>
      <div ref={place}>
        {isNear ? (
          <Suspense fallback={loading}>
            <Contents domain={domain} />
          </Suspense>
        ) : (
          loading
        )}
      </div>
    </Section>
  )
}

function Contents({ domain }: { domain: string }) {
  const { data, error } = useQuery(historyQuery(domain))
  return (
    <>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data && data.passRate.some(({ messages: count }) => count > 0) && (
        <PassRate domain={domain} {...data} />
      )}
      {data && <Timeline {...data} />}
    </>
  )
}

function Timeline({ events }: Pick<History, 'events'>) {
  if (events.length === 0) return <Muted>{messages.noEvents}</Muted>
  return (
    <ol className={classes.timeline}>
      {events.map(({ at, kind, name, before, after, detail }, index) => (
        <li key={`${at} ${index}`} data-kind={kind}>
          <p>
            <strong>{messages.kinds[kind]}</strong> {name}
          </p>
          <p className={classes.change}>{messages.change(before, after)}</p>
          <Muted>
            {detail !== null && `${detail} · `}
            <Ago at={at} />
          </Muted>
        </li>
      ))}
    </ol>
  )
}

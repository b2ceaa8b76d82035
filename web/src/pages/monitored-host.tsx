import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { MuteButton } from '../alerts/silence/mutes.tsx'
import { HOSTS_KEY, hostQuery, monitoring, type HostDetail } from '../monitoring/api.ts'
import { describeDayStrip } from '../monitoring/day-strip.ts'
import { CHANGES, HistorySection } from '../monitoring/history.tsx'
import { DelistingActions, ListingTable } from '../monitoring/listing-table.tsx'
import {
  availabilityText,
  days as dayMessages,
  history as historyMessages,
  certificateProblems,
  host as messages,
  hostState,
  spanText,
  summarizeHost,
} from '../monitoring/messages.ts'
import { HostTimelineSection } from '../monitoring/timelines.tsx'
import { Addresses, Certificates, Records } from '../monitoring/host-details.tsx'
import { deleteWithUndo } from '../deletions.ts'
import { utcDayText } from '../ui/text/dates.ts'
import { Ago } from '../ui/text/ago.tsx'
import { domainsQuery } from '../domains/api.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Button, ButtonLink } from '../ui/actions/button.tsx'
import { DayStrip } from '../ui/charts/day-strip.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Row, Section } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { numberText } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/monitoring/$id' })
  const { data: host, error } = useQuery(hostQuery(id))
  return (
    <Page
      wide
      title={host?.host ?? messages.untitled}
      above={<BackLink to="/monitoring">{messages.back}</BackLink>}
      lead={host?.label}
      aside={host && <HostActions host={host} />}
      rail={host ? <About host={host} /> : null}
    >
      <LoadingOrError there={host} error={error} lines={5}>
        {messages.loading}
      </LoadingOrError>
      {host && <HostSections host={host} />}
    </Page>
  )
}

function HostActions({ host }: { host: HostDetail }) {
  const { id } = host
  return (
    <Row>
      <CheckNow id={id} />
      <ButtonLink icon="settings" to="/monitoring/$id/settings" params={{ id }}>
        {messages.settings}
      </ButtonLink>
      <MuteButton object={`/monitoring/${id}`} name={host.host} />
      <Remove host={host} />
    </Row>
  )
}

function CheckNow({ id }: { id: string }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [state, setState] = useState({ busy: false, problem: '' })

  async function check(): Promise<void> {
    setState({ busy: true, problem: '' })
    try {
      queries.setQueryData(hostQuery(id).queryKey, await monitoring.check(id))
      setState({ busy: false, problem: '' })
    } catch (error) {
      setState({ busy: false, problem: (error as Error).message })
    }
  }

  return (
    <>
      <Button {...access} kind="primary" busy={state.busy} onClick={() => void check()}>
        {messages.checkNow}
      </Button>
      <div role="alert">{state.problem && <Notice tone="bad">{state.problem}</Notice>}</div>
    </>
  )
}

function Remove({ host: { id, host } }: { host: HostDetail }) {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()

  function remove(): void {
    deleteWithUndo(queries, {
      id,
      text: messages.removing(host),
      list: HOSTS_KEY,
      send: () => monitoring.remove(id),
    })
    void navigate({ to: '/monitoring' })
  }

  return (
    <Button {...access} size="small" kind="quiet" onClick={remove}>
      {messages.remove} <VisuallyHidden>{host}</VisuallyHidden>
    </Button>
  )
}

function HostSections({ host }: { host: HostDetail }) {
  const { listings, certificates, records } = host
  return (
    <>
      <Summary host={host} />
      {listings.length > 0 && (
        <Section title={messages.listings} aside={<DelistingActions listings={listings} />}>
          <ListingTable host={host} />
        </Section>
      )}
      {host.lastCheckAt !== null && <HostTimelineSection id={host.id} />}
      {certificates.length > 0 && (
        <Section title={messages.certificates}>
          <Certificates host={host} />
        </Section>
      )}
      {host.lastCheckAt !== null && <HistorySection host={host} />}
      {records.length > 0 && (
        <Section title={messages.records}>
          <Records host={host} />
        </Section>
      )}
    </>
  )
}

/** The last check of the host: when, from how many lists, and of which addresses. */
function About({ host }: { host: HostDetail }) {
  const { data: list } = useQuery(domainsQuery({ q: host.host }))
  const domains = (list?.domains ?? []).filter(({ hosts }) =>
    hosts.some(({ id }) => id === host.id),
  )
  const { totalChecked, unknownCount, lastCheckAt, nextCheckAt, addresses } = host
  return (
    <>
      <Section title={messages.checks}>
        <Facts
          facts={[
            [messages.stats.lastChecked, lastCheckAt && <Ago key="last" at={lastCheckAt} />],
            [messages.stats.nextCheck, lastCheckAt && <DueTime key="next" at={nextCheckAt} />],
            [messages.stats.results, totalChecked > 0 && numberText(totalChecked)],
            [messages.stats.unknown, unknownCount > 0 && numberText(unknownCount)],
            [
              messages.stats.domains(domains.length),
              domains.length > 0 && (
                <Row key="domains">
                  {domains.map(({ domain }) => (
                    <Link key={domain} to="/domains/$domain" params={{ domain }}>
                      {domain}
                    </Link>
                  ))}
                </Row>
              ),
            ],
          ]}
        />
      </Section>
      {addresses.length > 0 && (
        <Section title={messages.addresses}>
          <Addresses host={host} />
        </Section>
      )}
    </>
  )
}

/** The verdict, then the recent past. */
function Summary({ host }: { host: HostDetail }) {
  const { detail, status, availability } = host
  const { percent, listedSeconds, unknownSeconds, days } = availability
  const { tone } = hostState(host)
  const problems = certificateProblems(host)
  return (
    <>
      <div role="status">
        <Notice tone={tone === 'good' && problems.length > 0 ? 'warn' : tone}>
          <strong>{summarizeHost(host)}</strong>
          {detail && status !== 'unknown' && <p>{detail}</p>}
          {problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </Notice>
      </div>
      {host.periods.length > 0 && (
        <DayStrip
          label={dayMessages.label}
          {...describeDayStrip(host.periods, days, Date.now())}
          open={(day) => ({
            to: '/monitoring/$id',
            params: { id: host.id },
            search: { day },
            hash: CHANGES,
            label: historyMessages.openDay(utcDayText(day)),
          })}
        />
      )}
      <Stats
        stats={[
          [messages.stats.clean(days), percent !== null && availabilityText(availability)],
          [messages.stats.listedFor, listedSeconds > 0 && spanText(listedSeconds)],
          [messages.stats.unknownFor, unknownSeconds > 0 && spanText(unknownSeconds)],
        ]}
      />
    </>
  )
}

const MINUTE_MS = 60_000

function DueTime({ at }: { at: string }) {
  const minutes = Math.ceil((Date.parse(at) - Date.now()) / MINUTE_MS)
  return <time dateTime={at}>{messages.due(minutes)}</time>
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { AlertList } from '../alerts/alert-item.tsx'
import { alertsQuery, type AlertFilter } from '../alerts/api.ts'
import { incidentsQuery, mutesQuery } from '../alerts/incidents/api.ts'
import { IncidentsSection } from '../alerts/incidents/incidents-section.tsx'
import { incidents as incidentMessages } from '../alerts/incidents/messages.ts'
import { MutesSection } from '../alerts/incidents/mutes.tsx'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { ALERT_KINDS, list as messages } from '../alerts/messages.ts'
import { Choice } from '../ui/forms/choice.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Loading } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { kind, page } = useSearch({ from: '/own/alerts' })
  const filter = { kind, page }
  const navigate = useNavigate({ from: '/alerts' })
  const { data, error } = useQuery({ ...alertsQuery(filter), placeholderData: keepPreviousData })
  const { data: incidents, error: incidentsError } = useQuery(incidentsQuery)
  const { data: muted, error: mutesError } = useQuery(mutesQuery)
  const problem = error ?? incidentsError ?? mutesError
  // All at once, so that nothing moves.
  const isLoaded = data !== undefined && incidents !== undefined && muted !== undefined
  const go = (changed: AlertFilter) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  const isFiltered = filter.kind !== undefined
  return (
    <Page wide title={messages.title} lead={messages.lead}>
      <AlertsSubNavigation />
      {problem && <Notice tone="bad">{problem.message}</Notice>}
      {data && !data.mail && <NoEmail />}
      {!isLoaded && !problem && <Loading lines={4}>{messages.loading}</Loading>}
      {isLoaded && data.pagination.total === 0 && !isFiltered && <NoAlerts />}
      {isLoaded && <IncidentsSection {...incidents} />}
      {isLoaded && <MutesSection mutes={muted} />}
      {isLoaded && (data.pagination.total > 0 || isFiltered) && (
        <Section title={incidentMessages.history}>
          <Row>
            <Choice
              size="normal"
              label={messages.topic}
              choices={[
                { value: '', name: messages.allTopics },
                ...Object.entries(ALERT_KINDS).map(([value, { name }]) => ({ value, name })),
              ]}
              value={filter.kind ?? ''}
              onChange={(topic) => go({ kind: topic || undefined, page: undefined })}
            />
            <Muted>{messages.count(data.pagination.total)}</Muted>
          </Row>
          <AlertList alerts={data.alerts} />
          <PaginationLinks {...data.pagination} onGo={(next) => go({ kind, page: next })} />
        </Section>
      )}
    </Page>
  )
}

function NoEmail() {
  return (
    <Notice tone="warn">
      <strong>{messages.noEmail}</strong>
      <p>
        {messages.noEmailHint[0]}
        <code>SMTP_URL</code>
        {messages.noEmailHint[1]}
      </p>
    </Notice>
  )
}

function NoAlerts() {
  return (
    <Empty icon="bell" title={messages.empty}>
      <p>
        <Muted>{messages.emptyHint}</Muted>{' '}
        <Link to="/alerts/channels">{messages.yourChannels}</Link>
      </p>
    </Empty>
  )
}

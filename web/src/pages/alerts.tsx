import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { AlertList } from '../alerts/alert-item.tsx'
import { alertsQuery, channelsQuery, type AlertFilter } from '../alerts/api.ts'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { ALERT_KINDS, list as messages } from '../alerts/messages.ts'
import { Choice } from '../ui/forms/choice.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Row, Muted } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Loading } from '../ui/feedback/loading.tsx'

export function Screen() {
  const filter = useSearch({ from: '/own/alerts' })
  const navigate = useNavigate({ from: '/alerts' })
  const { data, error } = useQuery({ ...alertsQuery(filter), placeholderData: keepPreviousData })
  const { data: channels = [] } = useQuery(channelsQuery)
  const go = (search: AlertFilter) => void navigate({ search, replace: true })
  const isFiltered = filter.kind !== undefined
  return (
    <Page title={messages.title} lead={messages.lead}>
      <AlertsSubNavigation />
      {error && <Notice tone="bad">{error.message}</Notice>}
      {data && !data.mail && <NoEmail />}
      {!data && !error && <Loading lines={4}>{messages.loading}</Loading>}
      {data && data.pagination.total === 0 && !isFiltered && <NoAlerts />}
      {data && (data.pagination.total > 0 || isFiltered) && (
        <div>
          <Row>
            <Choice
              size="normal"
              label={messages.topic}
              choices={[
                { value: '', name: messages.allTopics },
                ...Object.entries(ALERT_KINDS).map(([value, { name }]) => ({ value, name })),
              ]}
              value={filter.kind ?? ''}
              onChange={(kind) => go({ kind: kind || undefined })}
            />
            <Muted>{messages.count(data.pagination.total)}</Muted>
          </Row>
          <AlertList alerts={data.alerts} channels={channels} />
          <PaginationLinks {...data.pagination} onGo={(page) => go({ ...filter, page })} />
        </div>
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

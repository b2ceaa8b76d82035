import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { AlertList } from '../alerts/alert-item.tsx'
import { alertsQuery, channelsQuery, type AlertFilter } from '../alerts/api.ts'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { ALERT_KINDS } from '../alerts/messages.ts'
import { Choice } from '../ui/forms/choice.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Row, Muted } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const filter = useSearch({ from: '/own/alerts' })
  const navigate = useNavigate({ from: '/alerts' })
  const { data, error } = useQuery({ ...alertsQuery(filter), placeholderData: keepPreviousData })
  const { data: channels = [] } = useQuery(channelsQuery)
  const go = (search: AlertFilter) => void navigate({ search, replace: true })
  const isFiltered = filter.kind !== undefined
  return (
    <Page
      title="Alerts"
      lead="What you were told, once each, and what became of it on each channel. It is kept for 180 days."
    >
      <AlertsSubNavigation />
      {error && <Notice tone="bad">{error.message}</Notice>}
      {data && !data.mail && <NoMail />}
      {!data && !error && <Loading lines={4}>Fetching your alerts …</Loading>}
      {data && data.pagination.total === 0 && !isFiltered && <NoAlert />}
      {data && (data.pagination.total > 0 || isFiltered) && (
        <div>
          <Row>
            <Choice
              size="normal"
              label="About"
              choices={[
                { value: '', name: 'About everything' },
                ...Object.entries(ALERT_KINDS).map(([value, { name }]) => ({ value, name })),
              ]}
              value={filter.kind ?? ''}
              onChange={(kind) => go({ kind: kind || undefined })}
            />
            <Muted>{counted(data.pagination.total, 'alert')}</Muted>
          </Row>
          <AlertList alerts={data.alerts} channels={channels} />
          <Pagination {...data.pagination} onGo={(page) => go({ ...filter, page })} />
        </div>
      )}
    </Page>
  )
}

function NoMail() {
  return (
    <Notice tone="warn">
      <strong>This service sends no mail.</strong>
      <p>
        Who runs it sets <code>SMTP_URL</code> to a relay. Webhooks work without it.
      </p>
    </Notice>
  )
}

function NoAlert() {
  return (
    <Empty icon="bell" title="Nothing has happened yet">
      <p>
        <Muted>Have a host watched or a domain’s reports read, and see with a test that alerts reach you:</Muted>{' '}
        <Link to="/alerts/channels">your channels</Link>
      </p>
    </Empty>
  )
}

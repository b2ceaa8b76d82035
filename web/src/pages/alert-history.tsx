import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { AlertList } from '../alerts/alert-item.tsx'
import { alertsQuery, type AlertFilter } from '../alerts/api.ts'
import { ALERT_KINDS, list as messages } from '../alerts/messages.ts'
import { AlertsSubNavigation } from '../alerts/sub-navigation.tsx'
import { Button } from '../ui/actions/button.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Muted, Page, Row } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'

export function Screen() {
  const { kind, page } = useSearch({ from: '/own/alerts/history' })
  const navigate = useNavigate({ from: '/alerts/history' })
  const query = { ...alertsQuery({ kind, page }), placeholderData: keepPreviousData }
  const { data, error } = useQuery(query)
  const go = (changed: AlertFilter) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  const isEmpty = data?.pagination.total === 0 && kind === undefined
  return (
    <Page wide title={messages.historyTitle} lead={messages.historyLead}>
      <AlertsSubNavigation />
      {data && !data.mail && <NoEmail />}
      <LoadingOrError there={data} error={error} lines={4}>
        {messages.loading}
      </LoadingOrError>
      {isEmpty && (
        <Empty icon="bell" title={messages.empty}>
          {messages.emptyHint}
        </Empty>
      )}
      {data && !isEmpty && (
        <>
          <Row>
            <Choice
              size="normal"
              label={messages.topic}
              choices={[
                { value: '', name: messages.allTopics },
                ...Object.entries(ALERT_KINDS).map(([value, { name }]) => ({ value, name })),
              ]}
              value={kind ?? ''}
              onChange={(topic) => go({ kind: topic || undefined, page: undefined })}
            />
            <Muted>{messages.count(data.pagination.total)}</Muted>
          </Row>
          {data.pagination.total === 0 && (
            <Row>
              <Muted>{messages.noneOfTopic}</Muted>
              <Button size="small" onClick={() => go({ kind: undefined, page: undefined })}>
                {messages.showAll}
              </Button>
            </Row>
          )}
          <AlertList alerts={data.alerts} />
          <PaginationLinks {...data.pagination} onGo={(next) => go({ page: next })} />
        </>
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

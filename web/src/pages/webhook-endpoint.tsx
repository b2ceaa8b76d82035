import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useShortcuts } from '../shortcuts.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { endpointQuery, type Endpoint } from '../webhooks/api.ts'
import { EndpointActions, EndpointAddress } from '../webhooks/endpoint-head.tsx'
import { FilterBar, focusFilter } from '../webhooks/requests/filter-bar.tsx'
import { FirstRequest } from '../webhooks/first-request.tsx'
import { Inspector } from '../webhooks/requests/inspector.tsx'
import { RequestDetail, type View } from '../webhooks/requests/request-detail.tsx'
import { RequestList } from '../webhooks/requests/request-list.tsx'
import { useThrottledValue } from '../webhooks/requests/use-throttled-value.ts'
import { useInbox } from '../webhooks/requests/use-inbox.ts'
import { endpoint as messages, endpoints, filter, list } from '../webhooks/messages.ts'

/** Search parameters of the screen. A phone shows one pane at a time. */
export type InspectorSearch = { q?: string; method?: string; request?: string; view?: View }

export function Screen() {
  const { id } = useParams({ from: '/own/hooks/$id' })
  const { data: endpoint, error } = useQuery(endpointQuery(id))
  return (
    <Page
      fill
      title={endpoint ? endpoint.label || endpoint.token : messages.untitled}
      above={<BackLink to="/hooks">{endpoints.title}</BackLink>}
      aside={endpoint && <EndpointActions endpoint={endpoint} />}
    >
      {error ? (
        <Notice tone="bad">{error.message}</Notice>
      ) : (
        endpoint && <Captures key={id} endpoint={endpoint} />
      )}
    </Page>
  )
}

function Captures({ endpoint }: { endpoint: Endpoint }) {
  const { q, method, request, view = 'body' } = useSearch({ from: '/own/hooks/$id' })
  const navigate = useNavigate({ from: '/hooks/$id' })
  const inbox = useInbox(endpoint.id, { q, method })
  const { rows } = inbox
  // Without a selection the newest request is shown, throttled to a readable rate.
  const newest = useThrottledValue(rows[0]?.id)
  const shown = request ?? newest
  const at = rows.findIndex(({ id }) => id === shown)

  const open = useCallback(
    (chosen: string | undefined) =>
      void navigate({
        search: (search) => ({ ...search, request: chosen }),
        // On a phone the way back leads to the list.
        replace: request !== undefined && chosen !== undefined,
        resetScroll: false,
      }),
    [navigate, request],
  )
  const step = (by: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, at + by))]
    if (row) open(row.id)
  }
  useShortcuts({
    j: [list.olderRequest, () => step(1)],
    k: [list.newerRequest, () => step(-1)],
    '/': [filter.focus, focusFilter],
    Escape: [list.newest, () => open(undefined)],
  })

  if (inbox.state === 'failed') return <Notice tone="bad">{inbox.problem}</Notice>
  const isFiltered = Boolean(q ?? method)
  if (inbox.state === 'ready' && rows.length === 0 && !isFiltered) {
    return <FirstRequest endpoint={endpoint} />
  }
  return (
    <Inspector
      isOpen={request !== undefined}
      head={<EndpointAddress endpoint={endpoint} />}
      filter={<FilterBar filter={{ q, method }} inbox={inbox} />}
      list={
        <RequestList
          inbox={inbox}
          selected={shown}
          chosen={request}
          onSelect={open}
          onMore={inbox.more}
        />
      }
      onBack={() => open(undefined)}
      onOlder={at >= 0 && at < rows.length - 1 ? () => step(1) : undefined}
      onNewer={at > 0 ? () => step(-1) : undefined}
      detail={
        shown && (
          <RequestDetail
            endpointId={endpoint.id}
            requestId={shown}
            previousId={rows[at + 1]?.id}
            view={view}
            onView={(chosen) =>
              void navigate({
                search: (search) => ({ ...search, view: chosen }),
                replace: true,
                resetScroll: false,
              })
            }
          />
        )
      }
    />
  )
}

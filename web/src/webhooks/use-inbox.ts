import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { useEvents, type Link } from '../events.ts'
import { endpointQuery, eventsPath, webhooks, type Captured, type Endpoint, type Filter } from './api.ts'
import { createInbox, type Inbox } from './inbox.ts'

const NAMES = ['ready', 'request', 'endpoint', 'skipped', 'deleted']

/** What an endpoint captured, following it live. */
export function useInbox(id: string, { q, method }: Filter): Inbox & { link: Link; more: () => void } {
  const queries = useQueryClient()
  const inbox = useMemo(() => {
    // Through the queries, which notice a session that has ended.
    const fetchPage = (cursor: string | null) =>
      queries.fetchQuery({
        queryKey: ['webhooks', id, 'requests', q, method, cursor],
        queryFn: () => webhooks.requests(id, { q, method }, cursor),
        gcTime: 0,
        staleTime: 0,
      })
    return createInbox({ filter: { q, method }, fetchPage })
  }, [queries, id, q, method])
  useEffect(() => void inbox.more(), [inbox])

  const link = useEvents(eventsPath(id), NAMES, {
    ready: () => void inbox.catchUp(),
    request: (captured) => inbox.add(captured as Captured),
    endpoint(changed) {
      const endpoint = changed as Endpoint
      queries.setQueryData(endpointQuery(id).queryKey, endpoint)
      // Its signatures may be held against another secret now; of one that was cleared there is nothing to ask for.
      if (endpoint.requestCount > 0) void queries.invalidateQueries({ queryKey: ['webhooks', id, 'request'] })
      void inbox.refresh()
    },
    skipped: () => void inbox.catchUp(),
    again: () => void inbox.catchUp(),
    deleted: () => void queries.invalidateQueries({ queryKey: ['webhooks'] }),
  })
  return { ...useSyncExternalStore(inbox.subscribe, inbox.current), link, more: () => void inbox.more() }
}

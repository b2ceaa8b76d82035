import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { useChanges } from '../../live-updates.ts'
import { webhooks, type RequestFilter, type PageRequest } from '../api.ts'
import { createInbox, type Inbox } from './inbox.ts'

/** The requests of an endpoint, updated live. */
export function useInbox(id: string, { q, method }: RequestFilter): Inbox & { more: () => void } {
  const queries = useQueryClient()
  const inbox = useMemo(() => {
    // Through the queries, which notice a session that has ended.
    const fetchPage = (ask: PageRequest) =>
      queries.fetchQuery({
        queryKey: ['webhooks', id, 'requests', q, method, ask],
        queryFn: () => webhooks.requests(id, { q, method }, ask),
        gcTime: 0,
        staleTime: 0,
      })
    return createInbox({ fetchPage })
  }, [queries, id, q, method])
  useEffect(() => void inbox.more(), [inbox])

  useChanges((change) => {
    if (change === null) void inbox.catchUp()
    else if (change.id !== null && change.id !== id) return
    else if (change.room === 'requests') void inbox.follow()
    else if (change.room === 'webhooks') void begin()
  })
  async function begin(): Promise<void> {
    await inbox.refresh()
    // Signatures may be verified with another secret now. A cleared list has no request to fetch.
    if (inbox.current().rows.length > 0)
      await queries.invalidateQueries({ queryKey: ['webhooks', id, 'request'] })
  }
  return { ...useSyncExternalStore(inbox.subscribe, inbox.current), more: () => void inbox.more() }
}

import type { CapturedRequest, PageRequest, RequestsPage } from '../api.ts'

/** A request as the list shows it; its body and headers are fetched when it is opened. */
export type ListedRequest = Omit<CapturedRequest, 'body' | 'bodyEncoding' | 'headers' | 'trailers'>

export type Inbox = {
  rows: ListedRequest[]
  state: 'loading' | 'ready' | 'failed'
  problem: string
  /** There are older ones to fetch. */
  hasMore: boolean
}

/**
 * Rows kept in the window: more than the service keeps, so that a burst can be looked through after
 * it went by.
 */
const MAX_ROWS = 10_000

/** Pages fetched to catch up. If more are missing, the list restarts with the newest. */
const MAX_PAGES_BEHIND = 4

type Deps = { fetchPage: (ask: PageRequest) => Promise<RequestsPage> }

/**
 * Creates the list of an endpoint’s requests: fetched pages, and above them the requests captured
 * since.
 */
export function createInbox({ fetchPage }: Deps) {
  let inbox: Inbox = { rows: [], state: 'loading', problem: '', hasMore: false }
  let older: string | null = null
  let later: string | null = null
  let fetching: Promise<void> | null = null
  let isDue = false
  let last = Promise.resolve()
  const listeners = new Set<() => void>()

  function set(change: Partial<Inbox>): void {
    inbox = { ...inbox, ...change }
    listeners.forEach((listener) => listener())
  }

  /** One after the other, so that no page is put where it stood before another came. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    last = last.then(work).catch((error: Error) => {
      // The rows already shown stay. The next change, or the next stream, tries again.
      if (inbox.state !== 'ready') set({ state: 'failed', problem: error.message })
    })
    return last
  }

  function showFirstPage({ requests, nextCursor, laterCursor, hasMore }: RequestsPage): void {
    older = nextCursor
    later = laterCursor
    set({ rows: requests.map(toRow), state: 'ready', problem: '', hasMore })
  }

  const newest = () => fetchPage({ cursor: null, order: 'desc' })
  const restart = async () => showFirstPage(await newest())

  async function fetchOlder(): Promise<void> {
    if (inbox.state !== 'ready') return restart()
    const page = await fetchPage({ cursor: older, order: 'desc' })
    older = page.nextCursor
    const rows = [...inbox.rows, ...page.requests.map(toRow)]
    set({ rows, hasMore: page.hasMore && rows.length < MAX_ROWS })
  }

  async function fetchLater(): Promise<void> {
    if (inbox.state !== 'ready') return restart()
    const found: ListedRequest[] = []
    for (let pages = 0, hasMore = true; hasMore; pages++) {
      if (pages === MAX_PAGES_BEHIND) return restart()
      const page = await fetchPage({ cursor: later, order: 'asc' })
      found.push(...page.requests.map(toRow))
      later = page.laterCursor
      hasMore = page.hasMore
    }
    if (found.length > 0) set({ rows: [...found.toReversed(), ...inbox.rows].slice(0, MAX_ROWS) })
  }

  /**
   * If the service does not return the newest shown request, the list was cleared, or more arrived
   * than a page contains.
   */
  async function resynchronize(): Promise<void> {
    const page = await newest()
    const [first] = inbox.rows
    return page.requests.some(({ id }) => id === first?.id) ? fetchLater() : showFirstPage(page)
  }

  return {
    current: () => inbox,
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Fetches the first page, or the next older one. */
    more: (): Promise<void> => (fetching ??= enqueue(fetchOlder).finally(() => (fetching = null))),
    /** Fetches the requests captured since. A call while it runs makes it run once more. */
    follow: (): Promise<void> => {
      if (isDue) return last
      isDue = true
      return enqueue(() => {
        isDue = false
        return fetchLater()
      })
    },
    /** The same where anything may have happened. */
    catchUp: (): Promise<void> => enqueue(resynchronize),
    /**
     * Starts again, for example after the list was cleared. The shown rows stay until the first
     * page arrives.
     */
    refresh: (): Promise<void> => enqueue(restart),
  }
}

function toRow({
  body: _body,
  bodyEncoding: _encoding,
  headers: _headers,
  trailers: _trailers,
  ...row
}: CapturedRequest): ListedRequest {
  return row
}

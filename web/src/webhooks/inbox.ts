import type { Captured, Page } from './api.ts'

/** A request as the list shows it; its body and headers are fetched when it is opened. */
export type Row = Omit<Captured, 'body' | 'bodyEncoding' | 'headers' | 'trailers'>

export type Inbox = {
  rows: Row[]
  state: 'loading' | 'ready' | 'failed'
  problem: string
  /** There are older ones to fetch. */
  hasMore: boolean
}

/** Which page: what is older than a cursor, from the newest on without one, or what is later. */
export type Ask = { cursor: string | null; order: 'desc' | 'asc' }

/** Rows kept in the window: more than the service keeps, so that a burst can be looked through after it went by. */
const MOST = 10_000

/** Pages that are fetched to catch up: behind by more, the list begins anew with the newest. */
const PAGES_BEHIND = 4

type Deps = { fetchPage: (ask: Ask) => Promise<Page> }

/** The list of an endpoint: pages that were fetched, and before them what was captured since. */
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
  function inTurn(work: () => Promise<void>): Promise<void> {
    last = last.then(work).catch((error: Error) => {
      // What is shown already stays: the next change, or the next stream, asks again.
      if (inbox.state !== 'ready') set({ state: 'failed', problem: error.message })
    })
    return last
  }

  function begin({ requests, nextCursor, laterCursor, hasMore }: Page): void {
    older = nextCursor
    later = laterCursor
    set({ rows: requests.map(rowOf), state: 'ready', problem: '', hasMore })
  }

  const newest = () => fetchPage({ cursor: null, order: 'desc' })
  const beginAnew = async () => begin(await newest())

  async function fetchOlder(): Promise<void> {
    if (inbox.state !== 'ready') return beginAnew()
    const page = await fetchPage({ cursor: older, order: 'desc' })
    older = page.nextCursor
    const rows = [...inbox.rows, ...page.requests.map(rowOf)]
    set({ rows, hasMore: page.hasMore && rows.length < MOST })
  }

  async function fetchLater(): Promise<void> {
    if (inbox.state !== 'ready') return beginAnew()
    const found: Row[] = []
    for (let pages = 0, hasMore = true; hasMore; pages++) {
      if (pages === PAGES_BEHIND) return beginAnew()
      const page = await fetchPage({ cursor: later, order: 'asc' })
      found.push(...page.requests.map(rowOf))
      later = page.laterCursor
      hasMore = page.hasMore
    }
    if (found.length > 0) set({ rows: [...found.toReversed(), ...inbox.rows].slice(0, MOST) })
  }

  /** The newest that is shown is not among the service's where the list was cleared, or more came than a page tells. */
  async function lookAgain(): Promise<void> {
    const page = await newest()
    const [first] = inbox.rows
    return page.requests.some(({ id }) => id === first?.id) ? fetchLater() : begin(page)
  }

  return {
    current: () => inbox,
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Fetches the first page, or the next older one. */
    more: (): Promise<void> => (fetching ??= inTurn(fetchOlder).finally(() => (fetching = null))),
    /** Takes what was captured since. Called while it does, it does so once more. */
    follow: (): Promise<void> => {
      if (isDue) return last
      isDue = true
      return inTurn(() => {
        isDue = false
        return fetchLater()
      })
    },
    /** The same where anything may have happened. */
    catchUp: (): Promise<void> => inTurn(lookAgain),
    /** Begins anew, as when the list was cleared; what is shown stays until the first page has come. */
    refresh: (): Promise<void> => inTurn(beginAnew),
  }
}

function rowOf({
  body: _body,
  bodyEncoding: _encoding,
  headers: _headers,
  trailers: _trailers,
  ...row
}: Captured): Row {
  return row
}

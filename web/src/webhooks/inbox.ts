import type { Captured, Filter, Page } from './api.ts'

/** A request as the list shows it; its body and headers are fetched when it is opened. */
export type Row = Omit<Captured, 'body' | 'bodyEncoding' | 'headers' | 'trailers'>

export type Inbox = {
  rows: Row[]
  state: 'loading' | 'ready' | 'failed'
  problem: string
  /** There are older ones to fetch. */
  hasMore: boolean
}

/** Rows kept in the window: more than the service keeps, so that a burst can be looked through after it went by. */
const MOST = 10_000

/** Characters of a body that a search looks through, as many as the service does. */
const SEARCHED = 64 * 1024

type Deps = {
  filter: Filter
  fetchPage: (cursor: string | null) => Promise<Page>
  /** Milliseconds or frames later: what arrives together is painted together. */
  schedule?: (paint: () => void) => void
}

/** The list of an endpoint: pages that were fetched, and before them what arrived since. */
export function createInbox({ filter, fetchPage, schedule = requestAnimationFrame }: Deps) {
  let inbox: Inbox = { rows: [], state: 'loading', problem: '', hasMore: false }
  let cursor: string | null = null
  let arrived: Row[] = []
  let known = new Set<string>()
  let fetching: Promise<void> | null = null
  let generation = 0
  /** What is shown is of before, until the first page of this generation has come. */
  let isStale = false
  const listeners = new Set<() => void>()

  function set(change: Partial<Inbox>): void {
    inbox = { ...inbox, ...change }
    listeners.forEach((listener) => listener())
  }

  function unknown(rows: Row[]): Row[] {
    const those = rows.filter(({ id }) => !known.has(id))
    those.forEach(({ id }) => known.add(id))
    return those
  }

  function paint(): void {
    const rows = [...arrived.toReversed(), ...inbox.rows].slice(0, MOST)
    arrived = []
    if (known.size > 2 * MOST) known = new Set(rows.map(({ id }) => id))
    set({ rows })
  }

  async function fetchNext(): Promise<void> {
    const asked = generation
    try {
      const page = await fetchPage(cursor)
      if (asked !== generation) return
      cursor = page.nextCursor
      const before = isStale ? inbox.rows.filter(({ id }) => known.has(id)) : inbox.rows
      isStale = false
      const rows = [...before, ...unknown(page.requests.map(rowOf))]
      set({ rows, state: 'ready', problem: '', hasMore: page.hasMore && rows.length < MOST })
    } catch (error) {
      if (asked === generation) set({ state: 'failed', problem: (error as Error).message })
    }
  }

  function more(): Promise<void> {
    fetching ??= fetchNext().finally(() => (fetching = null))
    return fetching
  }

  /** Begins anew, as when the list was cleared; what is shown stays until the first page has come. */
  async function refresh(): Promise<void> {
    generation += 1
    await fetching
    cursor = null
    arrived = []
    known = new Set()
    isStale = true
    await more()
  }

  return {
    current: () => inbox,
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Takes one that was captured just now. */
    add: (captured: Captured): void => {
      if (!matches(captured, filter)) return
      const rows = unknown([rowOf(captured)])
      if (rows.length === 0) return
      if (arrived.push(...rows) === 1) schedule(paint)
      if (arrived.length > MOST) arrived = arrived.slice(-MOST)
    },
    more,
    /** Takes what came while no event could come; begins anew when that is more than a page. */
    catchUp: async (): Promise<void> => {
      await fetching
      const asked = generation
      const page = await fetchPage(null).catch(() => null)
      if (!page || asked !== generation) return
      const oldest = page.requests.at(-1)
      if (oldest ? !known.has(oldest.id) : inbox.rows.length > 0) return refresh()
      const missed = unknown(page.requests.map(rowOf))
      if (missed.length > 0) set({ rows: [...missed, ...inbox.rows].toSorted(newestFirst) })
    },
    refresh,
  }
}

/** The ids of captured requests begin with their time. */
function newestFirst(one: Row, other: Row): number {
  return one.id < other.id ? 1 : -1
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

/** What the service finds for the same filter. */
export function matches({ method, path, query, headers, body, bodyEncoding }: Captured, filter: Filter): boolean {
  if (filter.method && method !== filter.method) return false
  if (!filter.q) return true
  const wanted = filter.q.toLowerCase()
  const text = bodyEncoding === 'utf8' ? body.slice(0, SEARCHED) : ''
  return [path, query, text, ...headers.map(([, value]) => value)].some((each) => each.toLowerCase().includes(wanted))
}

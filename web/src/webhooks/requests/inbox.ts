import type { CapturedRequest, PageRequest, RequestsPage } from '../api.ts'
import { describeRequest } from './describe-request.ts'

/** A request as the list shows it; its body and headers are fetched when it is opened. */
export type ListedRequest = Omit<
  CapturedRequest,
  'body' | 'bodyEncoding' | 'headers' | 'trailers'
> & {
  /** The event, or the start of the body. */
  summary: string
}

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
export function createInbox(deps: Deps) {
  const requests = new InboxRequests(deps)
  return {
    current: () => requests.inbox,
    subscribe: (listener: () => void) => requests.subscribe(listener),
    /** Fetches the first page, or the next older one. */
    more: () => requests.more(),
    /** Fetches the requests captured since. A call while it runs makes it run once more. */
    follow: () => requests.follow(),
    /** The same where anything may have happened. */
    catchUp: () => requests.catchUp(),
    /**
     * Starts again, for example after the list was cleared. The shown rows stay until the first
     * page arrives.
     */
    refresh: () => requests.refresh(),
  }
}

class InboxRequests {
  inbox: Inbox = { rows: [], state: 'loading', problem: '', hasMore: false }
  readonly #fetchPage: Deps['fetchPage']
  readonly #listeners = new Set<() => void>()
  /** The cursors of the pages below and above the rows. */
  #older: string | null = null
  #later: string | null = null
  /** The older page that is being fetched. */
  #fetching: Promise<void> | null = null
  /** Whether a fetch of later requests is enqueued and has not started. */
  #isDue = false
  /** The last of the enqueued fetches. */
  #last = Promise.resolve()

  constructor({ fetchPage }: Deps) {
    this.#fetchPage = fetchPage
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  more(): Promise<void> {
    this.#fetching ??= this.#enqueue(() => this.#fetchOlder()).finally(
      () => (this.#fetching = null),
    )
    return this.#fetching
  }

  follow(): Promise<void> {
    if (this.#isDue) return this.#last
    this.#isDue = true
    return this.#enqueue(() => {
      this.#isDue = false
      return this.#fetchLater()
    })
  }

  catchUp(): Promise<void> {
    return this.#enqueue(() => this.#resynchronize())
  }

  refresh(): Promise<void> {
    return this.#enqueue(() => this.#restart())
  }

  #set(change: Partial<Inbox>): void {
    this.inbox = { ...this.inbox, ...change }
    this.#listeners.forEach((listener) => listener())
  }

  /** One after the other, so that no page is put where it stood before another came. */
  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch((error: Error) => {
      // The rows already shown stay. The next change, or the next stream, tries again.
      if (this.inbox.state !== 'ready') this.#set({ state: 'failed', problem: error.message })
    })
    return this.#last
  }

  #fetchNewest(): Promise<RequestsPage> {
    return this.#fetchPage({ cursor: null, order: 'desc' })
  }

  #showFirstPage({ requests, nextCursor, laterCursor, hasMore }: RequestsPage): void {
    this.#older = nextCursor
    this.#later = laterCursor
    this.#set({ rows: requests.map(toRow), state: 'ready', problem: '', hasMore })
  }

  async #restart(): Promise<void> {
    this.#showFirstPage(await this.#fetchNewest())
  }

  async #fetchOlder(): Promise<void> {
    if (this.inbox.state !== 'ready') return this.#restart()
    const page = await this.#fetchPage({ cursor: this.#older, order: 'desc' })
    this.#older = page.nextCursor
    const rows = [...this.inbox.rows, ...page.requests.map(toRow)]
    this.#set({ rows, hasMore: page.hasMore && rows.length < MAX_ROWS })
  }

  async #fetchLater(): Promise<void> {
    if (this.inbox.state !== 'ready') return this.#restart()
    const found: ListedRequest[] = []
    for (let pages = 0, hasMore = true; hasMore; pages++) {
      if (pages === MAX_PAGES_BEHIND) return this.#restart()
      const page = await this.#fetchPage({ cursor: this.#later, order: 'asc' })
      found.push(...page.requests.map(toRow))
      this.#later = page.laterCursor
      hasMore = page.hasMore
    }
    if (found.length === 0) return
    this.#set({ rows: [...found.toReversed(), ...this.inbox.rows].slice(0, MAX_ROWS) })
  }

  /**
   * If the service does not return the newest shown request, the list was cleared, or more arrived
   * than a page contains.
   */
  async #resynchronize(): Promise<void> {
    const page = await this.#fetchNewest()
    const [first] = this.inbox.rows
    if (page.requests.some(({ id }) => id === first?.id)) await this.#fetchLater()
    else this.#showFirstPage(page)
  }
}

function toRow({ body, bodyEncoding, headers, trailers: _trailers, ...row }: CapturedRequest) {
  return { ...row, summary: describeRequest({ body, bodyEncoding, headers }) }
}

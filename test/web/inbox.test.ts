import { describe, expect, it } from 'vitest'
import type { CapturedRequest, RequestsPage, PageRequest } from '../../web/src/webhooks/api.ts'
import { createInbox } from '../../web/src/webhooks/requests/inbox.ts'

function captured(id: number): CapturedRequest {
  return {
    id: String(id),
    method: 'POST',
    path: '/orders',
    query: '',
    headers: [['X-Shop', 'Harbour']],
    trailers: null,
    ip: '192.0.2.1',
    body: '{"number": 7}',
    bodyEncoding: 'utf8',
    bodySize: 13,
    truncated: false,
    contentType: 'application/json',
    receivedAt: '2026-11-21T12:00:00.000Z',
    durationMs: 1,
    httpVersion: '1.1',
    preflight: false,
    aborted: false,
    rejected: null,
    responseStatus: 200,
    signature: null,
  }
}

/** An endpoint with numbered requests and pages of two. */
function endpointOf(...first: number[]) {
  let kept = first
  const asked: PageRequest[] = []
  let hold: Promise<void> | null = null
  const inbox = createInbox({
    async fetchPage(ask): Promise<RequestsPage> {
      asked.push(ask)
      const from = ask.cursor === null ? null : Number(ask.cursor)
      const those = kept.filter(
        (id) => from === null || (ask.order === 'asc' ? id > from : id < from),
      )
      const sorted = those.toSorted((a, b) => (ask.order === 'asc' ? a - b : b - a))
      const page = sorted.slice(0, 2)
      const newest = page.length > 0 ? Math.max(...page) : from
      await hold
      return {
        success: true,
        requests: page.map((id) => captured(id)),
        hasMore: sorted.length > 2,
        nextCursor: page.length > 0 ? String(page.at(-1)) : ask.cursor,
        laterCursor: newest === null ? null : String(newest),
      }
    },
  })
  return {
    ...inbox,
    asked,
    capture: (...ids: number[]) => (kept = [...kept, ...ids]),
    clear: () => (kept = []),
    /** Answers from now on wait until it is called. */
    delay: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      hold = promise
      return resolve
    },
    ids: () => inbox.current().rows.map(({ id }) => Number(id)),
  }
}

describe('the list of an endpoint', () => {
  it('shows new requests first', async () => {
    const { more, follow, capture, ids } = endpointOf(1, 2)
    await more()
    capture(3, 4, 5)
    await follow()
    expect(ids()).toEqual([5, 4, 3, 2, 1])
  })
  it('shows each request once, whatever is fetched concurrently', async () => {
    const { more, follow, catchUp, capture, ids } = endpointOf(1, 2, 3)
    await more()
    capture(4)
    await Promise.all([follow(), more(), catchUp(), follow()])
    expect(ids()).toEqual([4, 3, 2, 1])
  })
  it('fetches new requests while it fetches older ones', async () => {
    const { more, follow, capture, delay, ids, asked } = endpointOf(1)
    await more()
    const answer = delay()
    capture(2)
    const first = follow()
    await Promise.resolve()
    capture(3)
    const others = [follow(), follow(), follow()]
    answer()
    await Promise.all([first, ...others])
    expect(ids()).toEqual([3, 2, 1])
    expect(asked.length).toBe(3)
  })
  it('shows the first request of an endpoint that had none', async () => {
    const { more, follow, capture, ids } = endpointOf()
    await more()
    capture(1)
    await follow()
    expect(ids()).toEqual([1])
  })
  it('fetches the older ones page by page, and one page at a time', async () => {
    const { more, ids, current } = endpointOf(1, 2, 3, 4, 5)
    await Promise.all([more(), more()])
    expect([ids(), current().hasMore]).toEqual([[5, 4], true])
    await more()
    await more()
    expect([ids(), current().hasMore]).toEqual([[5, 4, 3, 2, 1], false])
  })
  it('fetches requests of a hidden tab’s time, and keeps the scroll position', async () => {
    const { more, catchUp, capture, ids } = endpointOf(1, 2, 3)
    await more()
    await more()
    capture(4)
    await catchUp()
    expect(ids()).toEqual([4, 3, 2, 1])
  })
  it('restarts when more arrived than a page contains', async () => {
    const { more, catchUp, capture, ids } = endpointOf(1)
    await more()
    capture(2, 3, 4)
    await catchUp()
    expect(ids()).toEqual([4, 3])
  })
  it('restarts after a flood', async () => {
    const { more, follow, capture, ids } = endpointOf(1)
    await more()
    capture(...Array.from({ length: 50 }, (_, at) => at + 2))
    await follow()
    expect(ids()).toEqual([51, 50])
  })
  it('restarts when it was cleared, and shows its old content until then', async () => {
    const { more, refresh, clear, delay, ids } = endpointOf(1, 2)
    await more()
    clear()
    const answer = delay()
    const begun = refresh()
    expect(ids()).toEqual([2, 1])
    answer()
    await begun
    expect(ids()).toEqual([])
  })
  it('detects that it was cleared while hidden', async () => {
    const { more, catchUp, clear, ids } = endpointOf(1, 2)
    await more()
    clear()
    await catchUp()
    expect(ids()).toEqual([])
  })
  it('shows why it could not be fetched, and starts when it can be', async () => {
    let fails = true
    const empty: RequestsPage = {
      success: true,
      requests: [],
      hasMore: false,
      nextCursor: null,
      laterCursor: null,
    }
    const inbox = createInbox({
      fetchPage: () =>
        fails ? Promise.reject(new Error('The service does not answer.')) : Promise.resolve(empty),
    })
    await inbox.more()
    expect(inbox.current()).toMatchObject({
      state: 'failed',
      problem: 'The service does not answer.',
    })
    fails = false
    await inbox.catchUp()
    expect(inbox.current()).toMatchObject({ state: 'ready', problem: '' })
  })
})

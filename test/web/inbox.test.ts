import { describe, expect, it } from 'vitest'
import type { Captured, Page } from '../../web/src/webhooks/api.ts'
import { createInbox, matches } from '../../web/src/webhooks/inbox.ts'

function captured(id: number, over: Partial<Captured> = {}): Captured {
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
    ...over,
  }
}

/** Answers with the pages that stand ready, one for each question. */
function inboxOf(pages: Captured[][], filter = {}) {
  const painting: (() => void)[] = []
  const asked: (string | null)[] = []
  const inbox = createInbox({
    filter,
    async fetchPage(cursor): Promise<Page> {
      asked.push(cursor)
      const requests = pages.shift() ?? []
      const hasMore = pages.length > 0
      return { success: true, requests, hasMore, nextCursor: hasMore ? String(pages.length) : null }
    },
    schedule: (paint) => void painting.push(paint),
  })
  const paint = () => painting.splice(0).forEach((each) => each())
  return { ...inbox, asked, paint, painting, ids: () => inbox.current().rows.map(({ id }) => Number(id)) }
}

describe('the list of an endpoint', () => {
  it('puts what arrives before what was there, and paints what arrives together once', async () => {
    const { add, more, paint, painting, ids } = inboxOf([[captured(2), captured(1)]])
    await more()
    ;[3, 4, 5].forEach((id) => add(captured(id)))
    expect([ids(), painting.length]).toEqual([[2, 1], 1])
    paint()
    expect(ids()).toEqual([5, 4, 3, 2, 1])
  })
  it('shows each request once, though it came on both ways', async () => {
    const { add, more, paint, ids } = inboxOf([[captured(3), captured(2)]])
    add(captured(3))
    paint()
    await more()
    add(captured(2))
    paint()
    expect(ids()).toEqual([3, 2])
  })
  it('fetches the older ones page by page, and one page at a time', async () => {
    const { more, ids, asked, current } = inboxOf([[captured(4)], [captured(3)], [captured(2)]])
    await Promise.all([more(), more()])
    expect([ids(), current().hasMore]).toEqual([[4], true])
    await more()
    await more()
    expect([ids(), current().hasMore, asked]).toEqual([[4, 3, 2], false, [null, '2', '1']])
  })
  it('takes what came between its first page and the first event', async () => {
    const { more, catchUp, add, paint, ids } = inboxOf([[captured(1)], [captured(3), captured(2), captured(1)]])
    await more()
    add(captured(4))
    paint()
    await catchUp()
    expect(ids()).toEqual([4, 3, 2, 1])
  })
  it('begins anew when more came than a page tells', async () => {
    const latest = [captured(4), captured(3)]
    const { more, catchUp, ids } = inboxOf([[captured(1)], latest, latest])
    await more()
    await catchUp()
    expect(ids()).toEqual([4, 3])
  })
  it('shows what it had until it begins anew', async () => {
    const { more, refresh, add, paint, ids } = inboxOf([[captured(1)], [captured(2)]])
    await more()
    const begun = refresh()
    expect(ids()).toEqual([1])
    await begun
    add(captured(3))
    paint()
    expect(ids()).toEqual([3, 2])
  })
  it('begins anew when it was cleared', async () => {
    const { more, refresh, add, paint, ids } = inboxOf([[captured(2)], []])
    await more()
    await refresh()
    expect(ids()).toEqual([])
    add(captured(2))
    paint()
    expect(ids()).toEqual([2])
  })
  it('holds ten thousand at most, and lets the oldest go', async () => {
    const { more, add, paint, ids } = inboxOf([[captured(0)]])
    await more()
    for (let id = 1; id <= 12_000; id++) add(captured(id))
    paint()
    expect([ids().length, ids()[0], ids().at(-1)]).toEqual([10_000, 12_000, 2_001])
  })
  it('says why it could not be fetched', async () => {
    const fetchPage = () => Promise.reject(new Error('The service does not answer.'))
    const inbox = createInbox({ filter: {}, fetchPage, schedule: () => {} })
    await inbox.more()
    expect(inbox.current()).toMatchObject({ state: 'failed', problem: 'The service does not answer.' })
  })
  it('finds by method, path, query, header value and body, whatever the case', () => {
    const request = captured(1, { query: 'lang=de' })
    for (const q of ['ORDERS', 'lang=DE', 'harbour', '"number": 7'])
      expect([q, matches(request, { q })]).toEqual([q, true])
    for (const q of ['X-Shop', 'nothing']) expect([q, matches(request, { q })]).toEqual([q, false])
    expect([matches(request, { method: 'POST' }), matches(request, { method: 'GET' })]).toEqual([true, false])
  })
})

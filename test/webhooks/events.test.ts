import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { followEvents, readEvents, type ServerEvent } from '../../src/net/http/event-stream.ts'
import { startWebhooks, type Captured, type Endpoint, type WebhooksTest } from './module.ts'
import { itAlone } from '../scaled/alone.ts'

let portreeve: WebhooksTest
beforeAll(async () => void (portreeve = await startWebhooks()))
afterAll(() => portreeve.stop())

const send = ({ token }: Endpoint, rest = '', init: RequestInit = {}) =>
  portreeve.portreeve.request(`/webhooks/${token}${rest}`, init)

/** Follows an endpoint in the background. */
async function follow(endpoint: Endpoint, after: string | null = null, service = portreeve) {
  const events: ServerEvent[] = []
  const stopping = new AbortController()
  const url = new URL(`/api/webhook/endpoints/${endpoint.id}/events`, service.portreeve.url)
  const ended = (async () => {
    for await (const event of followEvents(
      url,
      { token: service.alice.token, after },
      stopping.signal,
    ))
      events.push(event)
  })()
  const named = (name: string) => events.filter((event) => event.name === name)
  const until = async (name: string, count: number) => {
    await expect.poll(() => named(name).length, { interval: 10 }).toBeGreaterThanOrEqual(count)
    return named(name)
  }
  await until('ready', 1)
  return { until, named, ended, stop: () => stopping.abort() }
}

const pathsOf = (events: ServerEvent[]) =>
  events.map(({ data }) => (JSON.parse(data) as Captured).path)

describe('the event stream', () => {
  it('brings each request within a quarter of a second, as the list shows it', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const stream = await follow(endpoint)
    // A busy machine may delay any of them. Each is sent right after the one before has arrived, so
    // a stream that looked for requests now and then would be late for all.
    const waits: number[] = []
    for (let count = 1; count <= 40 && !waits.some((wait) => wait < 250); count++) {
      const begun = performance.now()
      await send(endpoint, '/now', { method: 'POST', body: Buffer.from([0, 255]) })
      await stream.until('request', count)
      waits.push(performance.now() - begun)
    }
    expect(Math.min(...waits)).toBeLessThan(250)
    const events = stream.named('request').map(({ data }) => JSON.parse(data) as Captured)
    expect(events.toReversed()).toEqual(await portreeve.captured(endpoint))
    stream.stop()
  })

  it('resumes where it broke off, and brings nothing twice', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const first = await follow(endpoint)
    await send(endpoint, '/1')
    const [seen] = await first.until('request', 1)
    first.stop()
    await send(endpoint, '/2')
    await send(endpoint, '/3')
    const second = await follow(endpoint, seen?.id)
    expect(pathsOf(await second.until('request', 2))).toEqual(['/2', '/3'])
    second.stop()
    const all = await follow(endpoint, '0')
    expect(pathsOf(await all.until('request', 3))).toEqual(['/1', '/2', '/3'])
    all.stop()
  })

  it('resumes also when nothing had come yet', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await send(endpoint, '/before')
    const first = await follow(endpoint)
    const [ready] = first.named('ready')
    first.stop()
    await send(endpoint, '/between')
    const second = await follow(endpoint, ready?.id)
    expect(pathsOf(await second.until('request', 1))).toEqual(['/between'])
    second.stop()
  })

  it('keeps up with many at once, in order', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const stream = await follow(endpoint)
    await Promise.all(Array.from({ length: 600 }, (_, i) => send(endpoint, `/${i}`)))
    const events = await stream.until('request', 600)
    expect(new Set(pathsOf(events)).size).toBe(600)
    const ids = events.map(({ id }) => Number(id))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    stream.stop()
  })

  it('reports changed settings and a cleared list, and ends when the endpoint is deleted', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const stream = await follow(endpoint)
    await portreeve.api('PUT', `/${endpoint.id}`, { label: 'new' })
    // The event of its creation may come before.
    const told = () => JSON.parse(stream.named('endpoint').at(-1)?.data ?? '{}') as object
    await expect.poll(told).toMatchObject({ label: 'new', url: endpoint.url })
    await send(endpoint)
    const before = stream.named('endpoint').length
    await portreeve.api('DELETE', `/${endpoint.id}/requests`)
    await stream.until('endpoint', before + 1)
    expect(told()).toMatchObject({ requestCount: 0 })
    await portreeve.api('DELETE', `/${endpoint.id}`)
    await stream.ended
    expect(stream.named('deleted')).toHaveLength(1)
  })

  it('rejects an invalid ID', async () => {
    const path = `/api/webhook/endpoints/${(await portreeve.makeEndpoint()).id}/events`
    const answer = await portreeve.portreeve.request(path, {
      token: portreeve.alice.token,
      headers: { 'last-event-id': 'x' },
    })
    expect(answer.status).toBe(400)
  })
})

describe('a service of its own', () => {
  let other: WebhooksTest
  beforeAll(async () => void (other = await startWebhooks({})))

  itAlone('the limit protects the memory of one instance')(
    'is limited to twenty, and frees its slot when it ends',
    async () => {
      const endpoint = await other.makeEndpoint()
      const streams = await Promise.all(
        Array.from({ length: 20 }, () => follow(endpoint, null, other)),
      )
      const { status, json } = await other.api('GET', `/${endpoint.id}/events`)
      expect([status, json.code]).toEqual([429, 'rate_limited'])
      for (const stream of streams) stream.stop()
      const opens = async () => {
        const stopping = new AbortController()
        const path = `/api/webhook/endpoints/${endpoint.id}/events`
        const init = { token: other.alice.token, signal: stopping.signal }
        const answer = await other.portreeve.request(path, init)
        stopping.abort()
        return answer.status
      }
      await expect.poll(opens).toBe(200)
      const again = await follow(endpoint, null, other)
      expect(again.named('ready')).toHaveLength(1)
      again.stop()
    },
  )

  it('ends streams and delayed responses at once when it stops', async () => {
    const endpoint = await other.makeEndpoint({ timeout: 30, responseBody: 'early' })
    const url = new URL(`/api/webhook/endpoints/${endpoint.id}/events`, other.portreeve.url)
    const stream = await fetch(url, { headers: { authorization: `Bearer ${other.alice.token}` } })
    const answer = other.portreeve.request(`/webhooks/${endpoint.token}`)
    await other.captured(endpoint)
    const begun = performance.now()
    await other.stop()
    expect(performance.now() - begun).toBeLessThan(20_000)
    expect(await (await answer).text()).toBe('early')
    expect(await stream.text()).toContain('event: ready')
  })
})

describe('reading events', () => {
  it('joins partial chunks, and skips comments', async () => {
    async function* pieces() {
      yield* [
        'retry: 2000\n',
        'id: 7\nevent: a\nda',
        'ta: one\ndata: two\n',
        '\n:\n\ndata:three\n\n',
        'data: cut off',
      ]
    }
    const events: ServerEvent[] = []
    for await (const event of readEvents(pieces())) events.push(event)
    expect(events).toEqual([
      { id: '7', name: 'a', data: 'one\ntwo' },
      { id: '7', name: 'message', data: 'three' },
    ])
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type RunningService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { followEvents } from '../../src/net/http/event-stream.ts'
import { SERVICE_KEY } from '../service.ts'
import { startWebhooks, type Captured, type Endpoint, type WebhooksTest } from './module.ts'

let portreeve: WebhooksTest
let other: RunningService

beforeAll(async () => {
  portreeve = await startWebhooks()
  const config = readConfig({
    DATABASE_URL: portreeve.portreeve.databaseUrl,
    PORT: '0',
    ROLES: 'web',
    SMTP_LISTEN: 'off',
    SECRET_KEY: SERVICE_KEY,
  })
  other = await startService(config, createLog('silent'))
})
afterAll(async () => {
  await other.stop()
  await portreeve.stop()
})

const send = (url: string, { token }: Endpoint, rest = '') =>
  fetch(`${url}/webhooks/${token}${rest}`, { method: 'POST', body: 'x' })

describe('two instances on one database', () => {
  it('share captured requests, in one order, and count them correctly', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const seen: string[] = []
    const ids: number[] = []
    const stopping = new AbortController()
    const url = new URL(`/api/webhook/endpoints/${endpoint.id}/events`, portreeve.portreeve.url)
    const following = (async () => {
      for await (const event of followEvents(
        url,
        { token: portreeve.alice.token, after: '0' },
        stopping.signal,
      )) {
        if (event.name !== 'request') continue
        seen.push((JSON.parse(event.data) as Captured).path)
        ids.push(Number(event.id))
      }
    })()
    const sendAll = async (base: string, name: string) => {
      for (let i = 0; i < 50; i++)
        expect((await send(base, endpoint, `/${name}${i}`)).status).toBe(200)
    }
    await Promise.all(
      ['a', 'b', 'c', 'd'].flatMap((name) => [
        sendAll(portreeve.portreeve.url, name),
        sendAll(other.url, `${name}-`),
      ]),
    )
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(400)
    stopping.abort()
    await following
    expect(new Set(seen).size).toBe(400)
    expect(seen).toHaveLength(400)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect((await portreeve.api('GET', `/${endpoint.id}`)).json.endpoint.requestCount).toBe(400)
  })

  it('give each number of a sequence once, also to 64 senders at once', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const answers = [{ status: 503, times: 200 }, { status: 202 }]
    await portreeve.api('POST', `/${endpoint.id}/rules`, { answers, key: 'headers.x-id' })
    const sendSome = async (base: string, id: string) => {
      const statuses: number[] = []
      for (let i = 0; i < 4; i++) {
        const init = { method: 'POST', body: 'x', headers: { 'x-id': id } }
        statuses.push((await fetch(`${base}/webhooks/${endpoint.token}`, init)).status)
      }
      return statuses
    }
    const all = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        sendSome(n % 2 === 0 ? portreeve.portreeve.url : other.url, n === 0 ? 'rare' : 'usual'),
      ),
    )
    expect(all[0]).toEqual([503, 503, 503, 503])
    expect(all.flat().filter((status) => status === 202)).toHaveLength(63 * 4 - 200)
  })

  it('answer senders of one through a listener at the other', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'configured' })
    // Known to the other before there is a listener.
    await send(other.url, endpoint)
    const path = `/${endpoint.id}/listeners`
    const { json } = await portreeve.api('POST', path, { holdSeconds: 20 })
    const { listener } = json as unknown as { listener: { id: string } }
    const answerAll = async () => {
      for (const { id } of await portreeve.captured(endpoint, 0)) {
        const answer = { listener: listener.id, status: 418, headers: [], bodyBase64: '' }
        await portreeve.api('POST', `/${endpoint.id}/requests/${id}/answer`, answer)
      }
    }
    // Until the other has been notified of the listener.
    await expect
      .poll(async () => {
        const state: { status: number | null } = { status: null }
        void send(other.url, endpoint).then(({ status }) => (state.status = status))
        while (state.status === null) await answerAll()
        return state.status
      })
      .toBe(418)
  })

  it('apply a change at once', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'one' })
    expect(await (await send(other.url, endpoint)).text()).toBe('one')
    await portreeve.api('PUT', `/${endpoint.id}`, { responseBody: 'two' })
    // Without a notification, the other would answer from its cache for half a minute.
    const answer = () => send(other.url, endpoint)
    await expect.poll(async () => (await answer()).text()).toBe('two')
    await portreeve.api('DELETE', `/${endpoint.id}`)
    await expect.poll(async () => (await answer()).status).toBe(404)
  })

  it('store nothing for an endpoint that another has just deleted', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await send(other.url, endpoint)
    const statuses: number[] = []
    const sendUntilDeleted = async () => {
      do statuses.push((await send(other.url, endpoint)).status)
      while (statuses.at(-1) === 200)
    }
    const sending = Array.from({ length: 8 }, sendUntilDeleted)
    await expect.poll(() => statuses.length).toBeGreaterThan(8)
    await portreeve.api('DELETE', `/${endpoint.id}`)
    await Promise.all(sending)
    expect(new Set(statuses)).toEqual(new Set([200, 404]))
    expect((await portreeve.api('GET', `/${endpoint.id}/requests`)).status).toBe(404)
  })
})

import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runPortreeve } from '../cli/command.ts'
import { freePort } from '../free-port.ts'
import { makeEndpoints, startPlace, type Place } from '../hard/place.ts'
import { captureOf, startSender } from './load.ts'

const PATIENCE = 180_000

let place: Place
let metricsUrl: string

beforeAll(async () => {
  const port = await freePort()
  metricsUrl = `http://127.0.0.1:${port}/metrics`
  place = await startPlace({ PROCESSES: '2', METRICS_LISTEN: `127.0.0.1:${port}` })
}, PATIENCE)
afterAll(() => place.stop())

/** Web processes besides the first one. */
function children(): number[] {
  const parent = place.instance.child.pid
  const pids = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')
  return pids
    .map(Number)
    .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('web-process'))
}

/** A request on a connection of its own, which the kernel gives to one of the processes. */
function ask(path: string, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${place.token}` }
    const sent = request(place.url + path, { method, headers, agent: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.once('error', reject).end()
  })
}

/** Sums of a metric by process. */
async function countsOf(metric: string): Promise<Record<string, number>> {
  const text = await (await fetch(metricsUrl)).text()
  const sums: Record<string, number> = {}
  for (const [, labels = '', value] of text.matchAll(
    new RegExp(`^${metric}(\\{.*\\}) (.*)$`, 'gm'),
  )) {
    const number = /process="(\d+)"/.exec(labels)?.[1] ?? 'none'
    sums[number] = (sums[number] ?? 0) + Number(value)
  }
  return sums
}

describe('a service with two processes', { timeout: PATIENCE }, () => {
  it('serves requests with both, and labels the metrics of each', async () => {
    const statuses = await Promise.all(Array.from({ length: 40 }, () => ask('/api/v1/account')))
    expect(new Set(statuses)).toEqual(new Set([200]))
    const counts = await countsOf('portreeve_http_request_duration_seconds_count')
    expect(Object.keys(counts).toSorted()).toEqual(['1', '2'])
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(5)
    expect(Object.keys(await countsOf('portreeve_migrations_running'))).toEqual(['1'])
    expect(Object.keys(await countsOf('process_start_time_seconds'))).toHaveLength(2)
  })

  it('refuses a revoked token in both at once', async () => {
    const made = await runPortreeve(
      ['token', 'create', '--email', 'alice@people.test', '--label', 'short', '--json'],
      place.env,
    )
    const { token, id } = JSON.parse(made.out) as { token: string; id: string }
    const use = () =>
      new Promise<number>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}` }
        const sent = request(`${place.url}/api/v1/account`, { headers, agent: false }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
        })
        sent.once('error', reject).end()
      })
    const used = () => Promise.all(Array.from({ length: 30 }, use))
    expect(new Set(await used())).toEqual(new Set([200]))
    expect(await ask(`/api/v1/tokens/${id}`, 'DELETE')).toBe(200)
    await expect.poll(async () => [...new Set(await used())], { timeout: 20_000 }).toEqual([401])
  })

  it('loses nothing acknowledged when one is killed under load, and starts it again', async () => {
    const tokens = await makeEndpoints(place, 10)
    const [victim = NaN] = children()
    const sender = startSender(place.url, captureOf(tokens), { connections: 16 })
    await expect.poll(() => sender.tally.acknowledged.size).toBeGreaterThan(500)
    process.kill(victim, 'SIGKILL')
    await expect.poll(children).not.toEqual([victim])
    await expect
      .poll(async () => Object.keys(await countsOf('process_start_time_seconds')))
      .toHaveLength(2)
    const { acknowledged } = await sender.stop()
    const { endpoints } = (await (await place.api('/api/webhook/endpoints')).json()) as {
      endpoints: { token: string; requestCount: number }[]
    }
    const stored = endpoints.reduce((sum, { requestCount }) => sum + requestCount, 0)
    expect(stored).toBeGreaterThanOrEqual(acknowledged.size)
    expect(stored - acknowledged.size).toBeLessThanOrEqual(16)
    expect(place.instance.said()).toContain('a web process ended: starting it again')
  })

  it('does not start on a port of another program', async () => {
    const port = new URL(place.url).port
    const own = { DATA_DIR: `${place.dataDir}/second`, METRICS_LISTEN: 'off', SMTP_LISTEN: 'off' }
    const { code, out } = await runPortreeve(['serve', '--json'], {
      ...place.env,
      ...own,
      PORT: port,
    })
    expect([code, out]).toEqual([1, expect.stringContaining('the port is in use')])
  })

  it('finishes running requests in both when it is stopped, and leaves no process', async () => {
    const { endpoint } = (await (
      await place.api('/api/webhook/endpoints', 'POST', { timeout: 2 })
    ).json()) as { endpoint: { token: string } }
    const before = children()
    const running = Array.from({ length: 20 }, () => ask(`/webhooks/${endpoint.token}`, 'POST'))
    const captures = async () =>
      (await (await place.api('/api/webhook/endpoints')).json()) as {
        endpoints: { token: string; requestCount: number }[]
      }
    await expect
      .poll(async () => {
        const { endpoints } = await captures()
        return endpoints.find(({ token }) => token === endpoint.token)?.requestCount
      })
      .toBe(20)
    await place.instance.kill('SIGTERM')
    expect(new Set(await Promise.all(running))).toEqual(new Set([200]))
    expect(place.instance.child.exitCode).toBe(0)
    expect(before.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
  })
})

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPortreeve, startProgram, startStore, type Program } from './start.ts'

/** Requests that wait together: as many as a destination holds. */
const WAITING = 9_000
const BODY = JSON.stringify({ event: 'order.created', id: 4711, note: 'x'.repeat(980) })
const CONCURRENCY = 50
const ROUNDS = 3

type Figures = { count: number; p50: number | null; p95: number | null; p99: number | null }

/**
 * Deliveries of one destination to a local receiver: how fast what waits is sent, beside a sender
 * without a queue; and how long after its capture a request arrives at rates below that.
 */
export async function run(): Promise<string> {
  const store = await startStore()
  const ours = await startPortreeve(store, {
    ROLES: 'web,worker',
    WEBHOOK_FORWARDING: 'all',
    FORWARD_PRIVATE_TARGETS: '127.0.0.1',
    SERVICE_QUOTAS: 'off',
  })
  const receiver = await startProgram('receiver.ts')
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  try {
    const { call, addEndpoint } = createForwarding(ours, store.apiToken)
    const { id, url, destinationId } = await addEndpoint(receiver.url, CONCURRENCY)
    const path = `/${id}/destinations/${destinationId}`
    const lines = ['| deliveries | bare/s | ours/s | of bare |', '| --- | --- | --- | --- |']
    await sendAll(agent, url, 2_000)
    await figures(receiver, 2_000)
    for (let round = 0; round < ROUNDS; round++) {
      const bare = await perSecond(WAITING, () => sendAll(agent, receiver.url, WAITING))
      await figures(receiver, WAITING)
      await call('POST', `${path}/pause`)
      await sendAll(agent, url, WAITING)
      const before = ours.processorSeconds()
      const drained = await perSecond(WAITING, async () => {
        await call('POST', `${path}/resume`, { waiting: 'send' })
        await figures(receiver, WAITING)
      })
      const cost = ((ours.processorSeconds() - before) / WAITING) * 1e6
      const ratio = (drained / bare).toFixed(2)
      lines.push(
        `| ${WAITING} (${Math.round(cost)} µs each) | ${Math.round(bare)} | ${Math.round(drained)} | ${ratio} |`,
      )
    }
    for (const rate of [500, 1_000, 1_500]) lines.push(await paced(agent, url, receiver, rate))
    return lines.join('\n')
  } finally {
    agent.destroy()
    await receiver.stop()
    await ours.stop()
    await store.stop()
  }
}

type Calls = {
  endpoint: { id: string; token: string }
  destination: { id: string }
}

/** Calls the API, and adds endpoints with a destination. */
export type Forwarding = {
  call: (method: string, path: string, body?: object) => Promise<Calls>
  /** @param receiver null for an endpoint without a destination */
  addEndpoint: (
    receiver: string | null,
    concurrency?: number,
  ) => Promise<{ id: string; url: string; destinationId: string }>
}

export function createForwarding({ url }: Program, token: string): Forwarding {
  async function call(method: string, path: string, body: object = {}) {
    const answer = await fetch(`${url}/api/webhook/endpoints${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as Calls
  }
  return {
    call,
    async addEndpoint(receiver, concurrency = 5) {
      const { endpoint } = await call('POST', '')
      const { id } = endpoint
      const added =
        receiver === null
          ? null
          : await call('POST', `/${id}/destinations`, { url: receiver, concurrency })
      const hook = `${url}/webhooks/${endpoint.token}`
      return { id, url: hook, destinationId: added?.destination.id ?? '' }
    },
  }
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (count * 1000) / (performance.now() - startedAt)
}

/** What the receiver measured since it was last asked. */
export async function figuresOf({ url }: { url: string }): Promise<Figures> {
  return (await (await fetch(`${url}/figures`)).json()) as Figures
}

/** Waits until the receiver has so many, and returns what it measured. */
async function figures(receiver: Program, count: number): Promise<Figures> {
  const all: Figures[] = []
  const startedAt = performance.now()
  let sum = 0
  while (sum < count) {
    const read = await figuresOf(receiver)
    sum += read.count
    all.push(read)
    if (performance.now() - startedAt > 120_000) throw new Error(`${sum} of ${count} arrived`)
    await sleep(20)
  }
  const at = (of: (one: Figures) => number | null) => Math.max(...all.map((one) => of(one) ?? 0))
  return {
    count: sum,
    p50: at((one) => one.p50),
    p95: at((one) => one.p95),
    p99: at((one) => one.p99),
  }
}

/** Sends requests on the connections of the agent, all at once. */
async function sendAll(agent: Agent, url: string, count: number): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) {
      next++
      await sendOne(agent, url)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

async function paced(agent: Agent, url: string, receiver: Program, rate: number): Promise<string> {
  const seconds = 8
  const startedAt = performance.now()
  const sent: Promise<void>[] = []
  while (performance.now() - startedAt < seconds * 1000) {
    const due = ((performance.now() - startedAt) / 1000) * rate
    while (sent.length < due) sent.push(sendOne(agent, url))
    await sleep(2)
  }
  await Promise.all(sent)
  // Read at once at the end, so that its quantiles are those of all.
  await sleep(1_500)
  const { count, p50, p95, p99 } = await figuresOf(receiver)
  const achieved = Math.round(count / seconds)
  return `at ${rate}/s captured and forwarded: ${achieved}/s arrived, after p50 ${p50}, p95 ${p95}, p99 ${p99} ms`
}

export function sendOne(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-sent-at': Date.now() }
    request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', resolve)
    })
      .on('error', reject)
      .end(BODY)
  })
}

if (import.meta.main) console.log(await run())

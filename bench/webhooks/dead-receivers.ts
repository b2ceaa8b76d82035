import { once } from 'node:events'
import { Agent } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createForwarding, figuresOf, sendOne, type Forwarding } from './forwarding.ts'
import { load } from './load.ts'
import { startPortreeve, startProgram, startStore } from './start.ts'

const ENDPOINTS = 100
const SECONDS = 8
const ROUNDS = 4
/** Requests a second to all endpoints together. */
const RATE = 200
/** Captures a second of one endpoint beside them, where the machine is not at its limit. */
const PACED = 1_000

/**
 * Forwarding to receivers that do not answer: what it does to captures, and one of them to the other
 * destinations. In turn with the same without.
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
  const silent = await startSilent()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  try {
    const forwarding = createForwarding(ours, store.apiToken)
    const busy = await forwarding.addEndpoint(null)
    const all: Endpoint[] = []
    // As many as a workspace has.
    for (let count = 0; count < ENDPOINTS - 1; count++)
      all.push(await forwarding.addEndpoint(receiver.url))
    const lines = [...(await compareOne(forwarding, all, { agent, receiver, silent }))]
    for (const { id, destinationId } of all)
      await forwarding.call('PUT', `/${id}/destinations/${destinationId}`, { url: silent.url })
    await load(busy.url, SECONDS)
    for (let round = 0; round < ROUNDS; round++) {
      const without = await load(busy.url, SECONDS)
      const pacedWithout = await pace(agent, busy)
      const stop = send(agent, all, RATE)
      await sleep(1_000)
      const beside = await load(busy.url, SECONDS)
      const pacedBeside = await pace(agent, busy)
      await stop()
      lines.push(
        `captures beside ${all.length} endpoints whose receivers are dead: ${show(beside)}; without: ${show(without)}`,
        `at ${PACED}/s: ${pacedBeside} beside them, ${pacedWithout} without`,
      )
    }
    return lines.join('\n')
  } finally {
    agent.destroy()
    silent.close()
    await receiver.stop()
    await ours.stop()
    await store.stop()
  }
}

type Endpoint = Awaited<ReturnType<Forwarding['addEndpoint']>>

const show = ({ perSecond, p99 }: { perSecond: number; p99: number }) =>
  `${Math.round(perSecond)}/s p99 ${p99.toFixed(1)} ms`

/** The time until requests arrive, while one destination of all works or does not. */
async function compareOne(
  { call }: Forwarding,
  all: Endpoint[],
  { agent, receiver, silent }: { agent: Agent; receiver: { url: string }; silent: { url: string } },
): Promise<string[]> {
  const [one] = all
  if (!one) return []
  const direct = async (url: string) =>
    call('PUT', `/${one.id}/destinations/${one.destinationId}`, { url })
  const measure = async () => {
    await figuresOf(receiver)
    const stop = send(agent, all, RATE)
    await sleep(SECONDS * 1_000)
    await stop()
    await sleep(500)
    return figuresOf(receiver)
  }
  await measure()
  const lines: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const well = await measure()
    await direct(silent.url)
    const dead = await measure()
    await direct(receiver.url)
    lines.push(
      `${all.length} destinations at ${RATE}/s, arrived after p50 ${well.p50} p95 ${well.p95} ms; one dead: p50 ${dead.p50} p95 ${dead.p95} ms`,
    )
  }
  return lines
}

/** How long captures take that come at a rate. */
async function pace(agent: Agent, endpoint: Endpoint): Promise<string> {
  const took: number[] = []
  const stop = send(agent, [endpoint], PACED, (milliseconds) => took.push(milliseconds))
  await sleep(SECONDS * 1_000)
  await stop()
  took.sort((a, b) => a - b)
  const at = (share: number) => (took[Math.floor(took.length * share)] ?? NaN).toFixed(1)
  return `p50 ${at(0.5)} p99 ${at(0.99)} ms`
}

/** Sends to all endpoints in turn. @returns stops it */
function send(
  agent: Agent,
  all: Endpoint[],
  rate: number,
  onAnswer: (milliseconds: number) => void = () => {},
): () => Promise<void> {
  const stopping = new AbortController()
  const work = async () => {
    const startedAt = performance.now()
    const sent: Promise<void>[] = []
    while (!stopping.signal.aborted) {
      const due = ((performance.now() - startedAt) / 1000) * rate
      while (sent.length < due) {
        const { url } = all[sent.length % all.length] as Endpoint
        const began = performance.now()
        sent.push(sendOne(agent, url).then(() => onAnswer(performance.now() - began)))
      }
      await sleep(2)
    }
    await Promise.all(sent)
  }
  const done = work()
  return () => {
    stopping.abort()
    return done
  }
}

/** A receiver that takes requests and never answers. */
async function startSilent() {
  const server = createServer((socket) => socket.on('error', () => {}).resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

if (import.meta.main) {
  console.log(await run())
  process.exit()
}

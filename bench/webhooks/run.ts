import { crowd, heavyBodies } from './crowd.ts'
import { follow } from './followed.ts'
import { load, SENDER, type Figures } from './load.ts'
import { startPortreeve, startProgram, startStore, type Program, type Store } from './start.ts'

const SECONDS = 8
const ROUNDS = 5

/**
 * Durable captures beside a bare node:http in turn; then with followers, with a crowd, and with
 * heavy bodies.
 */
export async function run(): Promise<string> {
  const store = await startStore()
  const ours = await startPortreeve(store)
  const bare = await startProgram('bare.ts')
  try {
    const busy = await makeEndpoint(ours, store)
    // A warm-up for the JIT compiler and the disk cache; not measured.
    await load(busy.url, SECONDS)
    const rounds: { bare: Figures; ours: Figures }[] = []
    for (let i = 0; i < ROUNDS; i++) {
      rounds.push({ bare: await load(bare.url, SECONDS), ours: await load(busy.url, SECONDS) })
    }
    const lines = [
      ...compared(rounds),
      await followed(ours, store),
      await crowded(busy.url),
      await heavy(ours, busy.url),
    ]
    return lines.join('\n')
  } finally {
    await ours.stop()
    await bare.stop()
    await store.stop()
  }
}

type Endpoint = { id: string; url: string; events: URL }

async function makeEndpoint({ url }: Program, { apiToken }: Store): Promise<Endpoint> {
  const headers = { authorization: `Bearer ${apiToken}` }
  const answer = await fetch(`${url}/api/webhook/endpoints`, { method: 'POST', headers })
  const { endpoint } = (await answer.json()) as { endpoint: { id: string; token: string } }
  const events = new URL(`${url}/api/webhook/endpoints/${endpoint.id}/events`)
  return { id: endpoint.id, url: `${url}/webhooks/${endpoint.token}`, events }
}

function compared(rounds: { bare: Figures; ours: Figures }[]): string[] {
  const ratios = rounds.map((round) => round.ours.perSecond / round.bare.perSecond)
  const ours = rounds.map((round) => round.ours)
  const bare = rounds.map((round) => round.bare)
  const each = ratios.map((ratio) => ratio.toFixed(2)).join(' ')
  return [
    `sent by ${SENDER}`,
    '| 64 connections, 1 kB POST | requests/s |   p50 ms |   p99 ms |   failed |',
    '| ------------------------- | ---------- | -------- | -------- | -------- |',
    row('bare node:http', bare),
    row('captures, durable', ours),
    `ratio in each round: ${each}; median ${median(ratios).toFixed(2)} (target 0.45)`,
  ]
}

function row(name: string, figures: Figures[]): string {
  const perSecond = Math.round(median(figures.map((f) => f.perSecond)))
  const [p50, p99] = [median(figures.map((f) => f.p50)), median(figures.map((f) => f.p99))]
  const failed = Math.max(...figures.map((f) => f.failed))
  const cells = [p50.toFixed(2), p99.toFixed(2), String(failed)].map((cell) => cell.padStart(8))
  return `| ${name.padEnd(25)} | ${String(perSecond).padStart(10)} | ${cells.join(' | ')} |`
}

async function followed(ours: Program, store: Store): Promise<string> {
  const busy = await makeEndpoint(ours, store)
  const quiet = await makeEndpoint(ours, store)
  const token = store.apiToken
  const loading = load(busy.url, SECONDS)
  const [figures, ofBusy, ofQuiet] = await Promise.all([
    loading,
    follow({ url: busy.events, token }, loading),
    follow({ url: quiet.events, token }, loading, () =>
      fetch(quiet.url, { method: 'POST', body: 'x' }),
    ),
  ])
  const lag = ({ p50, p99, most }: typeof ofBusy) => `p50 ${p50} p99 ${p99} most ${most} ms`
  return (
    `followed at full load (${Math.round(figures.perSecond)}/s): another endpoint's events after ${lag(ofQuiet)}, ` +
    `the loaded one's after ${lag(ofBusy)} (${ofBusy.count} events)`
  )
}

async function crowded(url: string): Promise<string> {
  const without = await load(url, SECONDS)
  const end = await crowd(url, { idle: 2_000, slow: 200 })
  const beside = await load(url, SECONDS)
  end()
  const show = ({ perSecond, p99 }: Figures) =>
    `${Math.round(perSecond)}/s p99 ${p99.toFixed(1)} ms`
  return `beside 2,000 idle and 200 slow connections: ${show(beside)}; without: ${show(without)}`
}

async function heavy(ours: Program, url: string): Promise<string> {
  const before = ours.residentMb()
  const most = await heavyBodies(url, 64, () => ours.residentMb())
  return `resident: ${before} MB after the load, at most ${most} MB with 64 bodies of 10 MiB at once`
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

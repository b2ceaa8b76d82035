// `node bench/webhooks/turns.ts FOLDER [ROUNDS]`: captures of this checkout and of another one of
// the repository, in turn. Each has a database of its own, with the schema of its version.
import { join, resolve } from 'node:path'
import { load } from './load.ts'
import type * as Start from './start.ts'

const SECONDS = 6

type Side = { name: string; url: string; processorSeconds: () => number }
type Turn = { perSecond: number; p99: number; processorUs: number }

async function startSide(name: string, root: string, undo: AsyncDisposableStack): Promise<Side> {
  const { startStore, startPortreeve } = (await import(
    join(root, 'bench/webhooks/start.ts')
  )) as typeof Start
  const store = await startStore()
  undo.defer(() => store.stop())
  const portreeve = await startPortreeve(store)
  undo.defer(() => portreeve.stop())
  const answer = await fetch(`${portreeve.url}/api/webhook/endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${store.apiToken}` },
  })
  const { endpoint } = (await answer.json()) as { endpoint: { token: string } }
  const url = `${portreeve.url}/webhooks/${endpoint.token}`
  return { name, url, processorSeconds: portreeve.processorSeconds }
}

async function takeTurn({ url, processorSeconds }: Side): Promise<Turn> {
  const before = processorSeconds()
  const { perSecond, p99, failed } = await load(url, SECONDS)
  if (failed > 0) throw new Error(`${failed} requests failed`)
  const seconds = processorSeconds() - before
  return { perSecond, p99, processorUs: (seconds * 1e6) / (perSecond * SECONDS) }
}

/** @param folder the other checkout */
async function run(folder: string, rounds: number): Promise<string> {
  await using undo = new AsyncDisposableStack()
  const before = await startSide('before', resolve(folder), undo)
  const now = await startSide('now', join(import.meta.dirname, '../..'), undo)
  for (const side of [before, now]) await takeTurn(side)
  const lines = [
    '| round | before/s | now/s | now, of before | p99 ms before | now | processor µs before | now |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ]
  for (let round = 0; round < rounds; round++) {
    const turns = new Map<Side, Turn>()
    // The order alternates from round to round.
    for (const side of round % 2 === 0 ? [before, now] : [now, before])
      turns.set(side, await takeTurn(side))
    const [one, other] = [turns.get(before)!, turns.get(now)!]
    const cells = [
      round + 1,
      Math.round(one.perSecond),
      Math.round(other.perSecond),
      (other.perSecond / one.perSecond).toFixed(2),
      one.p99.toFixed(1),
      other.p99.toFixed(1),
      Math.round(one.processorUs),
      Math.round(other.processorUs),
    ]
    lines.push(`| ${cells.join(' | ')} |`)
  }
  return lines.join('\n')
}

const [folder, rounds = '6'] = process.argv.slice(2)
if (folder === undefined) throw new Error('Usage: node bench/webhooks/turns.ts FOLDER [ROUNDS]')
console.log(await run(folder, Number(rounds)))

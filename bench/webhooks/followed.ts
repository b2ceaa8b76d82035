import { setTimeout as sleep } from 'node:timers/promises'
import { followEvents } from '../../src/net/http/event-stream.ts'

export type Lags = { count: number; p50: number; p99: number; most: number }

/**
 * Milliseconds from the arrival of a request at the service to that of its event here, until
 * `until` is over.
 * @param probe called ten times a second: sends a request of its own to this endpoint
 */
export async function follow(
  { url, token }: { url: URL; token: string },
  until: Promise<unknown>,
  probe?: () => Promise<unknown>,
): Promise<Lags> {
  const lags: number[] = []
  const stopping = new AbortController()
  const following = (async () => {
    for await (const { name, data } of followEvents(url, { token, after: null }, stopping.signal)) {
      if (name === 'request')
        lags.push(Date.now() - Date.parse((JSON.parse(data) as { receivedAt: string }).receivedAt))
    }
  })()
  const over = until.then(() => stopping.abort())
  while (!stopping.signal.aborted) {
    await Promise.all([probe?.(), sleep(100)])
  }
  await Promise.all([over, following])
  const sorted = lags.toSorted((a, b) => a - b)
  const at = (q: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN
  return { count: lags.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from './pages.ts'

/**
 * Milliseconds per mebibyte between two requests: the service makes an account wait that reads large
 * responses without a pause, which is no time of the page.
 */
const PAUSE_MS_PER_MIB = 160
const MIB = 1024 * 1024

/** Milliseconds that a page may take at the 95th percentile. */
export const LIMIT_MS = 300

export type Measured = {
  name: string
  p50: number
  p95: number
  bytes: number
  failed: number | null
}

/** The service and how often each page is requested, one request after another. */
export type Target = { url: string; token: string; requests: number }

/** Measures pages with varied parameters. */
export async function measurePages(target: Target, pages: Page[]): Promise<Measured[]> {
  const all: Measured[] = []
  for (const page of pages) {
    const measured = await measurePage(target, page)
    if (measured.p95 > LIMIT_MS || measured.failed !== null)
      console.error(`${page.name} ${page.path(0)}: ${measured.p95.toFixed()} ms`, measured.failed)
    all.push(measured)
  }
  return all
}

async function measurePage(
  { url, token, requests }: Target,
  { name, path, headers }: Page,
): Promise<Measured> {
  const times: number[] = []
  let [bytes, failed]: [number, number | null] = [0, null]
  for (let n = 0; n < requests; n++) {
    const begun = performance.now()
    const answer = await fetch(new URL(path(n), url), {
      headers: headers ?? { authorization: `Bearer ${token}` },
    })
    const { byteLength } = await answer.arrayBuffer()
    times.push(performance.now() - begun)
    bytes = Math.max(bytes, byteLength)
    await sleep((byteLength / MIB) * PAUSE_MS_PER_MIB)
    if (!answer.ok) failed = answer.status
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(share * requests) - 1] ?? Number.NaN
  return { name, p50: at(0.5), p95: at(0.95), bytes, failed }
}

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place } from './place.ts'

export type Seen = {
  /** Milliseconds of the slowest request, and how many there were. */
  slowest: number
  asked: number
  /** Megabytes: before, and at most meanwhile. */
  before: number
  most: number
}

/**
 * Requests the service repeatedly like an ordinary client and samples its memory, until it is
 * stopped.
 */
export function watch(place: Place, path = '/api/v1/account'): { stop(): Promise<Seen> } {
  const before = residentMb(place.instance.child.pid)
  const seen: Seen = { slowest: 0, asked: 0, before, most: before }
  const stopping = new AbortController()
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const begun = performance.now()
      const answer = await place.api(path)
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`)
      seen.slowest = Math.max(seen.slowest, performance.now() - begun)
      seen.asked += 1
      seen.most = Math.max(seen.most, residentMb(place.instance.child.pid))
      await sleep(50)
    }
  })()
  watching.catch(() => {})
  return {
    async stop() {
      stopping.abort()
      await watching
      return seen
    },
  }
}

/** Megabytes of a process in memory. */
export function residentMb(pid = 0): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

/** Describes the figures. */
export function seenText({ slowest, asked, before, most }: Seen): string {
  return `the slowest of ${asked} requests beside it ${Math.round(slowest)} ms, memory ${Math.round(before)} MB before and ${Math.round(most)} MB at most`
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../log.ts'

type Repetition = {
  /** Milliseconds between the end of one run and the next. */
  intervalMs: number
  log: Logger
  /** What is logged when a run fails; the next one tries again. */
  failure: string
}

/**
 * Milliseconds for the last run to end, so that an unavailable database does not delay the stop.
 */
const STOP_TIMEOUT_MS = 3_000

/**
 * Runs work that every instance does, again and again; jobs are for work of one instance.
 * @returns stops it, after the run that is in progress
 */
export function repeatWork(
  work: (signal: AbortSignal) => Promise<void>,
  { intervalMs, log, failure }: Repetition,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  async function run(): Promise<void> {
    while (!signal.aborted) {
      await work(signal).catch((err: unknown) => {
        if (!signal.aborted) log.warn({ err }, failure)
      })
      await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return async () => {
    stopping.abort()
    await Promise.race([running, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
  }
}

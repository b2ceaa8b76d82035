import { BREAKER_FAILED_SHARE, BREAKER_MIN_RESULTS, BREAKER_WINDOW_MS } from '../limits.ts'
import { SECOND_MS } from '../../time.ts'

/** The results of one second. */
type Counted = { at: number; failed: number; all: number }

/** Counts the results of the last minute, by which a breaker opens. */
export class RecentResults {
  /** Oldest first. */
  #seconds: Counted[] = []

  /** @param now milliseconds since 1970 */
  add(isFailure: boolean, now: number): void {
    const second = this.#secondOf(now)
    second.all++
    if (isFailure) second.failed++
  }

  /** Whether so many attempts failed that further ones would only be a burden. */
  shouldOpen(now: number): boolean {
    this.#forget(now)
    let [failed, all] = [0, 0]
    for (const second of this.#seconds) {
      failed += second.failed
      all += second.all
    }
    return all >= BREAKER_MIN_RESULTS && failed / all >= BREAKER_FAILED_SHARE
  }

  clear(): void {
    this.#seconds = []
  }

  #secondOf(now: number): Counted {
    const last = this.#seconds.at(-1)
    if (last && now - last.at < SECOND_MS) return last
    this.#forget(now)
    const next = { at: now, failed: 0, all: 0 }
    this.#seconds.push(next)
    return next
  }

  #forget(now: number): void {
    this.#seconds = this.#seconds.filter(({ at }) => at > now - BREAKER_WINDOW_MS)
  }
}

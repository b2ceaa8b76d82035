import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import { BATCH, CLAIM_AGAIN, LANES, LANES_PER_ACCOUNT, LEASE } from '../limits.ts'
import { lookAtHost, type LookDeps } from './look.ts'
import { claimDue, releaseHost, type ClaimedHost } from './store.ts'

/**
 * Looks at every host that is due, those that have waited longest first, some side by side, until none is left.
 * @param until when to stop taking more, as performance.now() tells it
 * @returns how many were looked at
 */
export async function sweepDue(deps: LookDeps, signal: AbortSignal, until = Infinity): Promise<number> {
  let looked = 0
  let waiting: ClaimedHost[] = []
  let claiming: Promise<void> | undefined
  let isDry = false
  const busy = new Map<string, number>()
  let freed = Promise.withResolvers<void>()

  const isFull = (accountId: string) => (busy.get(accountId) ?? 0) >= LANES_PER_ACCOUNT

  async function claimMore(): Promise<void> {
    if (signal.aborted || performance.now() > until) return void (isDry = true)
    const full = [...busy.keys()].filter((accountId) => isFull(accountId))
    // Those that wait here already have their share of what is taken.
    const held = [...new Set(waiting.map(({ accountId }) => accountId))]
    const claimed = await claimDue(deps.db, BATCH, LEASE, [...full, ...held])
    isDry = claimed.length === 0
    waiting.push(...claimed)
  }

  /** The next host of an account that has a lane left; undefined when there is none, and nobody is at work any more. */
  async function next(): Promise<ClaimedHost | undefined> {
    for (;;) {
      const at = waiting.findIndex(({ accountId }) => !isFull(accountId))
      const [host] = at >= 0 ? waiting.splice(at, 1) : []
      // Counted here and now, before another lane looks for how many there are.
      if (host) count(host.accountId, 1)
      if (host) return host
      await (claiming ??= claimMore().finally(() => (claiming = undefined)))
      if (waiting.some(({ accountId }) => !isFull(accountId))) continue
      if (signal.aborted || busy.size === 0) return undefined
      // Others of an account that is busy wait here, and new ones may come due meanwhile.
      await Promise.race([freed.promise, sleep(CLAIM_AGAIN, undefined, { ref: false })])
      if (isDry && performance.now() > until && waiting.length === 0) return undefined
    }
  }

  function count(accountId: string, change: number): void {
    const now = (busy.get(accountId) ?? 0) + change
    if (now > 0) busy.set(accountId, now)
    else busy.delete(accountId)
    if (change > 0) return
    freed.resolve()
    freed = Promise.withResolvers()
  }

  async function lane(): Promise<void> {
    for (let host = await next(); host && !signal.aborted; host = await next()) {
      await lookSafely(host, deps, signal)
      count(host.accountId, -1)
      looked += 1
    }
  }

  await Promise.all(Array.from({ length: LANES }, lane))
  for (const host of waiting) await releaseHost(deps.db, host)
  waiting = []
  return looked
}

/** One host's trouble is not the others': it stays due, and is taken again when its time with us is over. */
async function lookSafely(host: ClaimedHost, deps: LookDeps, signal: AbortSignal): Promise<void> {
  try {
    await lookAtHost(host, deps, signal)
  } catch (error) {
    if (signal.aborted) return
    deps.onLook?.('failed')
    deps.log.warn({ hostId: host.id, err: error }, `a host could not be looked at: ${messageOf(error)}`)
  }
}

import { messageOf } from '../../errors.ts'
import { BATCH, LANES, LEASE } from '../limits.ts'
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

  async function claimMore(): Promise<void> {
    if (signal.aborted || performance.now() > until) return void (isDry = true)
    const claimed = await claimDue(deps.db, BATCH, LEASE)
    isDry = claimed.length === 0
    waiting.push(...claimed)
  }

  async function next(): Promise<ClaimedHost | undefined> {
    while (waiting.length === 0 && !isDry) await (claiming ??= claimMore().finally(() => (claiming = undefined)))
    return waiting.shift()
  }

  async function lane(): Promise<void> {
    for (let host = await next(); host && !signal.aborted; host = await next()) {
      await lookSafely(host, deps, signal)
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

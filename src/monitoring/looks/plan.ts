import { JITTER, type Rhythm } from '../limits.ts'
import type { HostRow } from '../store.ts'

/** What a look is to look at. */
export type Plan = {
  /** Critical and major lists; all lists; certificates and records; what was suspected or did not answer last time. */
  grave: boolean
  full: boolean
  side: boolean
  again: boolean
}

export const EVERYTHING: Plan = { grave: true, full: true, side: true, again: true }

export function planOf({ graveDueAt, fullDueAt, sideDueAt, recheckAt }: HostRow, now: Date): Plan {
  const isDue = (at: Date | null) => at !== null && at <= now
  return { grave: isDue(graveDueAt), full: isDue(fullDueAt), side: isDue(sideDueAt), again: isDue(recheckAt) }
}

/** When what was looked at is due again; the rest stays as it was. */
export function nextDue(host: HostRow, plan: Plan, rhythm: Rhythm, now: Date) {
  const next = (wasLookedAt: boolean, interval: number, before: Date) =>
    wasLookedAt ? new Date(now.getTime() + interval * (1 - JITTER * Math.random())) : before
  return {
    graveDueAt: next(plan.grave || plan.full, rhythm.grave, host.graveDueAt),
    fullDueAt: next(plan.full, rhythm.full, host.fullDueAt),
    sideDueAt: next(plan.side, rhythm.side, host.sideDueAt),
  }
}

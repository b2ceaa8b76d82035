import { JITTER_RATIO, type CheckIntervals } from '../limits.ts'
import type { HostRow } from '../hosts.sql.ts'

/** Parts of a host that one check covers. */
export type CheckPlan = {
  /** Critical and major blocklists. */
  importantLists: boolean
  allLists: boolean
  certificatesAndRecords: boolean
  /** Unconfirmed changes, and blocklists that gave no answer last time. */
  recheck: boolean
}

export const FULL_CHECK: CheckPlan = {
  importantLists: true,
  allLists: true,
  certificatesAndRecords: true,
  recheck: true,
}

export function planCheck(
  { graveDueAt, fullDueAt, sideDueAt, recheckAt }: HostRow,
  now: Date,
): CheckPlan {
  const isDue = (at: Date | null) => at !== null && at <= now
  return {
    importantLists: isDue(graveDueAt),
    allLists: isDue(fullDueAt),
    certificatesAndRecords: isDue(sideDueAt),
    recheck: isDue(recheckAt),
  }
}

/** Due times after a check: new ones for what the plan covered, the old ones for the rest. */
export function nextDueTimes(host: HostRow, plan: CheckPlan, intervals: CheckIntervals, now: Date) {
  const next = (wasChecked: boolean, intervalMs: number, before: Date) =>
    wasChecked ? new Date(now.getTime() + intervalMs * (1 - JITTER_RATIO * Math.random())) : before
  return {
    graveDueAt: next(
      plan.importantLists || plan.allLists,
      intervals.importantListsMs,
      host.graveDueAt,
    ),
    fullDueAt: next(plan.allLists, intervals.allListsMs, host.fullDueAt),
    sideDueAt: next(
      plan.certificatesAndRecords,
      intervals.certificatesAndRecordsMs,
      host.sideDueAt,
    ),
  }
}

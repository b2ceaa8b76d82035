import { DAY_MS, MINUTE_MS } from '../../time.ts'

export const MAX_NETWORKS = 50
/** Bits of the widest network that can be watched. */
export const WIDEST = { 4: 16, 6: 32 } as const
/** Findings of one list in one network; more are not told apart. */
export const MAX_FINDINGS = 200
export const CHECK_INTERVAL_MS = 5 * MINUTE_MS
/** Resolved findings are kept for this time. */
export const HISTORY_MS = 400 * DAY_MS

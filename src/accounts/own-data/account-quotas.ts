import { Fault } from '../../errors.ts'
import type { Plan } from '../../config.ts'

/** The kinds of stored data that have a quota in bytes. */
export const QUOTAS = ['captures', 'reportFiles', 'sharedChecks'] as const
export type Quota = (typeof QUOTAS)[number]

const MB = 1_000_000
const GB = 1_000 * MB

/** Bytes that a workspace, and an account over all its workspaces, may store, by plan. */
export const QUOTA_BYTES: Record<Plan, Record<Quota, number>> = {
  free: { captures: GB, reportFiles: 250 * MB, sharedChecks: 10 * MB },
  starter: { captures: 2 * GB, reportFiles: GB, sharedChecks: 25 * MB },
  pro: { captures: 10 * GB, reportFiles: 5 * GB, sharedChecks: 50 * MB },
  business: { captures: 25 * GB, reportFiles: 20 * GB, sharedChecks: 100 * MB },
  enterprise: { captures: 100 * GB, reportFiles: 100 * GB, sharedChecks: 200 * MB },
}

/** Share of a quota from which an alert is sent. */
export const WARNING_SHARE = 0.8

/** The effect of a full quota. */
export const OVER_QUOTA_EFFECTS: Record<Quota, string> = {
  captures: 'The oldest requests are removed first. New requests are always captured.',
  reportFiles:
    'Uploads are rejected. Reports that arrive by email are evaluated, but their files are not stored.',
  sharedChecks: 'No more checks can be shared until one is removed or expires.',
}

export type Allowance = { used: number; limit: number }

/** Of what a workspace and what its account may use, the one of which less is left. */
export function scarcerOf(workspace: Allowance, account: Allowance): Allowance {
  return account.limit - account.used < workspace.limit - workspace.used ? account : workspace
}

/** `1 GB`, `250 MB`. */
export function bytesText(bytes: number): string {
  const [divisor, unit] = bytes >= GB ? [GB, 'GB'] : bytes >= MB ? [MB, 'MB'] : [1_000, 'kB']
  return `${Number((bytes / divisor).toPrecision(3))} ${unit}`
}

/** @param retryAfter seconds until something stored expires by itself */
export function overQuota(sentence: string, retryAfter: number): Fault {
  return new Fault('rate_limited', sentence, { retryAfter: Math.max(1, Math.ceil(retryAfter)) })
}

import type { Transaction } from 'kysely'
import {
  bytesText,
  overQuota,
  QUOTA_BYTES,
  scarcerOf,
  WARNING_SHARE,
} from '../../accounts/own-data/account-quotas.ts'
import { raiseAlert, type NewAlert } from '../../alerts/raise.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { describeFileStorage } from '../messages.ts'
import type { NewDelivery } from '../intake/report-intake.sql.ts'
import { findFileUsage, lockFileUsage, sumStored, type FileUsage } from './report-storage.sql.ts'
import { DAY_SECONDS } from '../../time.ts'

/** The storage of a workspace, or that of its account where less of it is left. */
function scarcerStorage({ plan, bytes, accountPlan, accountBytes }: FileUsage) {
  return scarcerOf(
    { used: bytes, limit: QUOTA_BYTES[plan].reportFiles },
    { used: accountBytes, limit: QUOTA_BYTES[accountPlan].reportFiles },
  )
}

/**
 * Drops the files that exceed the storage of the workspace or of its account. Their reports are stored without them.
 * @param deliveries of one workspace, or of no workspace, which has no quota
 */
export async function dropFilesBeyondQuota<T extends NewDelivery>(
  trx: Transaction<DB>,
  deliveries: T[],
): Promise<T[]> {
  const workspaceId = deliveries[0]?.workspaceId ?? null
  const usage = workspaceId === null ? undefined : await lockFileUsage(trx, workspaceId)
  if (workspaceId === null || usage === undefined) return deliveries
  const { limit, used } = scarcerStorage(usage)
  const stored = await sumStored(
    trx,
    deliveries.map(({ id }) => id),
  )
  let bytes = used - stored
  let isFull = false
  const kept = deliveries.map((delivery) => {
    const length = delivery.content?.length ?? 0
    if (bytes + length <= limit) {
      bytes += length
      return delivery
    }
    isFull = true
    return { ...delivery, content: null }
  })
  if (isFull || bytes >= limit * WARNING_SHARE)
    await raiseAlert(trx, fileAlert(workspaceId, limit, isFull ? 'full' : 'warning'))
  return kept
}

/**
 * Rejects an upload that exceeds the storage of the workspace or of its account.
 * @param keptDays after which a file is deleted
 * @throws Fault `rate_limited` with the time at which the oldest file expires
 */
export async function requireFileStorage(
  db: Db,
  workspaceId: string,
  bytes: number,
  keptDays: number,
): Promise<void> {
  const usage = await findFileUsage(db, workspaceId)
  if (usage === undefined) return
  const { limit, used } = scarcerStorage(usage)
  if (used + bytes <= limit) return
  const oldest = (usage.oldest?.getTime() ?? Date.now()) / 1_000
  const room = `Report files use ${bytesText(used)} of the ${bytesText(limit)} of your plan.`
  const sentence = `${room} Files are deleted after ${keptDays} days. Upload this file then, or ask for a larger plan.`
  throw overQuota(sentence, oldest + keptDays * DAY_SECONDS - Date.now() / 1_000)
}

/** The key makes it one alert a month for each limit and level. */
function fileAlert(workspaceId: string, limit: number, level: 'warning' | 'full'): NewAlert {
  const at = new Date()
  const key = `storage.reports ${level} ${limit} ${at.toISOString().slice(0, 7)}`
  return {
    workspaceId,
    kind: 'storage.reports',
    key,
    incident: null,
    phase: 'once',
    severity: level === 'full' ? 'error' : 'warning',
    ...describeFileStorage(limit, WARNING_SHARE)[level],
    path: '/dmarc',
    at,
  }
}

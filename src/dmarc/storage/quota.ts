import type { Transaction } from 'kysely'
import { bytesText, overQuota, QUOTA_BYTES, WARNING_SHARE } from '../../accounts/quotas.ts'
import { raiseAlert, type NewAlert } from '../../alerts/raise.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import type { NewDelivery } from '../intake/store.ts'
import { findFileUsage, lockFileUsage, sumStored } from './store.ts'

const DAY_SECONDS = 86_400

/**
 * Leaves out the files that the account's quota has no room for, so that what they report is stored without them.
 * @param deliveries of one account, or of none, which has no quota
 */
export async function withinQuota<T extends NewDelivery>(trx: Transaction<DB>, deliveries: T[]): Promise<T[]> {
  const accountId = deliveries[0]?.accountId ?? null
  const usage = accountId === null ? undefined : await lockFileUsage(trx, accountId)
  if (accountId === null || usage === undefined) return deliveries
  const limit = QUOTA_BYTES[usage.plan].reportFiles
  const stored = await sumStored(
    trx,
    deliveries.map(({ id }) => id),
  )
  let bytes = usage.bytes - stored
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
    await raiseAlert(trx, fileAlert(accountId, limit, isFull ? 'full' : 'warning'))
  return kept
}

/**
 * Refuses an upload for which there is no room.
 * @param keptDays after which a file is deleted
 * @throws Fault `rate_limited` with when the oldest file expires
 */
export async function requireFileRoom(db: Db, accountId: string, bytes: number, keptDays: number): Promise<void> {
  const usage = await findFileUsage(db, accountId)
  if (usage === undefined) return
  const limit = QUOTA_BYTES[usage.plan].reportFiles
  if (usage.bytes + bytes <= limit) return
  const oldest = (usage.oldest?.getTime() ?? Date.now()) / 1_000
  const room = `Report files may take ${bytesText(limit)} on your plan, and ${bytesText(usage.bytes)} are in use.`
  const sentence = `${room} A file is deleted ${keptDays} days after it arrived; upload this one then, or ask for a larger plan.`
  throw overQuota(sentence, oldest + keptDays * DAY_SECONDS - Date.now() / 1_000)
}

/** Told once a month for each limit. */
function fileAlert(accountId: string, limit: number, level: 'warning' | 'full'): NewAlert {
  const at = new Date()
  const texts = {
    warning: {
      title: 'Storage for report files is almost full',
      text: `Your report files use more than ${WARNING_SHARE * 100}% of ${bytesText(limit)}.`,
      nextStep: 'Ask for a larger plan if you need the original files. Reports are evaluated either way.',
    },
    full: {
      title: 'Report files are no longer stored',
      text: `Your report files reached the limit of ${bytesText(limit)}. Reports that arrive by mail are evaluated, but their files are not stored; uploads are refused.`,
      nextStep: 'Wait until old files expire, or ask for a larger plan.',
    },
  }
  const key = `storage.reports ${level} ${limit} ${at.toISOString().slice(0, 7)}`
  return { accountId, kind: 'storage.reports', key, ...texts[level], path: '/dmarc', at }
}

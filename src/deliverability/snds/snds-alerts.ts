import type { Kysely } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import type { SndsBlock } from '../../protocols/reports/snds-report.ts'
import type { DB } from '../../store/tables.ts'
import { HIGH_SPAM_RATE, RAISED_SPAM_RATE } from '../limits.ts'
import { sndsAlert, sndsNormalAlert, type BadAddress } from './messages.ts'
import { lockSndsAlerts, replaceSndsAlerts, type SndsDayRow } from './snds.sql.ts'

/** Raises one alert about all addresses of a workspace that became worse, or ends it. */
export async function reportSndsChanges(
  db: Kysely<DB>,
  workspaceId: string,
  { days, blocks }: { days: readonly SndsDayRow[]; blocks: readonly SndsBlock[] },
): Promise<void> {
  const bad = findBad(days, blocks)
  await db.transaction().execute(async (trx) => {
    const before = await lockSndsAlerts(trx, workspaceId)
    if (!before) return
    const levels = new Map(before.map(({ address, level }) => [address, level]))
    // An address without mail lately is as it was.
    const known = new Set([...days.map(({ address }) => address), ...bad.keys()])
    const kept = before.filter(({ address, isBlock }) => !isBlock && !known.has(address))
    const current = [...bad.values()].map(({ address, level, isBlock }) => ({
      address,
      level,
      isBlock,
    }))
    await replaceSndsAlerts(trx, workspaceId, [...kept, ...current])
    const worse = [...bad.values()].filter(
      ({ address, level }) => level !== levels.get(address) && levels.get(address) !== 'error',
    )
    if (worse.length > 0) await raiseAlert(trx, sndsAlert(workspaceId, [...bad.values()]))
    else if (before.length > 0 && current.length + kept.length === 0)
      await raiseResolved(trx, sndsNormalAlert(workspaceId))
  })
}

function findBad(
  days: readonly SndsDayRow[],
  blocks: readonly SndsBlock[],
): Map<string, BadAddress> {
  const bad = new Map<string, BadAddress>()
  const add = (address: string, level: BadAddress['level'], reason: string, isBlock = false) => {
    const found = bad.get(address)
    bad.set(address, {
      address,
      level: found?.level === 'error' ? found.level : level,
      isBlock: isBlock && (found?.isBlock ?? true),
      reasons: [...(found?.reasons ?? []), reason],
    })
  }
  for (const { address, filter, complaintLow: low, complaintRate, day } of days) {
    if (filter === 'red' || filter === 'yellow')
      add(address, filter === 'red' ? 'error' : 'warning', `${filter} on ${day}`)
    // “< 0.1%” is below the limit; the beginning of any other range has reached it.
    if (low !== null && low >= RAISED_SPAM_RATE)
      add(
        address,
        low >= HIGH_SPAM_RATE ? 'error' : 'warning',
        `complaint rate ${complaintRate} on ${day}`,
      )
  }
  for (const block of blocks)
    add(block.first, 'error', `${rangeText(block)}: ${block.detail || 'blocked'}`, true)
  return bad
}

const rangeText = ({ first, last, isBlocked }: SndsBlock) =>
  `${first === last ? '' : `up to ${last}, `}${isBlocked ? 'blocked' : 'delivered to junk'}`

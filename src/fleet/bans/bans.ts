import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import type { DB } from '../../store/tables.ts'
import type { Subject } from '../../abuse/subject.ts'
import { MAX_ACTIVE_BANS } from '../limits.ts'
import { loadProtection, type ProtectionDeps } from '../protection.ts'
import { lockFleet, type Fleet } from '../fleet.sql.ts'
import {
  countBans,
  endBans,
  findBans,
  saveBans,
  type BanRow,
  type Cause,
} from './fleet-bans.sql.ts'
import { writeChanges } from './write-changes.ts'

type Deps = ProtectionDeps & { db: Kysely<DB> }

/**
 * Runs a change of a workspace’s list while its fleet is locked.
 * @throws Fault `not_found` for a deleted workspace
 */
export async function changeFleet<T>(
  db: Kysely<DB>,
  workspaceId: string,
  change: (trx: Transaction<DB>, fleet: Fleet) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const fleet = await lockFleet(trx, workspaceId)
    if (!fleet) throw new Fault('not_found', 'The workspace was deleted.')
    return change(trx, fleet)
  })
}

/**
 * Bans an address for a time that a member chose. A ban that lasts longer already stays.
 * @throws Fault `invalid_request` for an address that is never banned, `conflict` when the list is full
 */
export async function banAddress(
  deps: Deps,
  workspaceId: string,
  {
    subject,
    seconds,
    reason,
    member,
  }: { subject: Subject; seconds: number; reason: string; member: string },
  now: number,
): Promise<BanRow> {
  return changeFleet(deps.db, workspaceId, async (trx, fleet) => {
    const { key: address } = subject
    const protection = await loadProtection(trx, workspaceId, deps)
    const why = protection.reasonFor(address)
    if (why !== null) throw refuse(`${address} is ${why} and is never banned`)
    const [known] = await findBans(trx, workspaceId, [address])
    const isActive = (known?.expiresAt ?? 0) > now
    const { active } = await countBans(trx, workspaceId)
    if (!isActive && active >= MAX_ACTIVE_BANS)
      throw new Fault(
        'conflict',
        `A fleet list has up to ${MAX_ACTIVE_BANS.toLocaleString('en')} addresses. Remove a ban first.`,
      )
    const expiresAt = Math.max(now + seconds * 1000, isActive ? (known?.expiresAt ?? 0) : 0)
    const kind = isActive ? ('extended' as const) : ('banned' as const)
    const cause: Cause = { by: 'member', member, ...(reason && { reason }) }
    const [number = 0] = await writeChanges(
      trx,
      fleet,
      [{ address, kind, expiresAt, cause }],
      new Date(now),
    )
    const row: BanRow = {
      sightings: [],
      ...known,
      address,
      expiresAt,
      bannedAt: isActive ? (known?.bannedAt ?? now) : now,
      banSeconds: Math.round((expiresAt - now) / 1000),
      bans: Math.max(1, known?.bans ?? 0),
      change: isActive ? (known?.change ?? number) : number,
      reason,
      seenAt: now,
    }
    await saveBans(trx, workspaceId, [row])
    return row
  })
}

/**
 * Ends bans on every server at once.
 * @returns how many there were
 */
export async function unban(
  db: Kysely<DB>,
  workspaceId: string,
  which: Parameters<typeof endBans>[2],
  cause: Cause,
  now: number,
): Promise<number> {
  return changeFleet(db, workspaceId, (trx, fleet) => unbanLocked(trx, fleet, which, cause, now))
}

/**
 * Ends one ban on every server at once.
 * @throws Fault `not_found` also for a ban of another workspace
 */
export async function unbanOne(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  cause: Cause,
  now: number,
): Promise<void> {
  await changeFleet(db, workspaceId, async (trx, fleet) => {
    if ((await unbanLocked(trx, fleet, { id }, cause, now)) === 0)
      throw new Fault('not_found', 'The ban was not found. It may have ended.')
  })
}

/** Ends bans of a fleet that is locked. @returns how many there were */
export async function unbanLocked(
  trx: Transaction<DB>,
  fleet: Fleet,
  which: Parameters<typeof endBans>[2],
  cause: Cause,
  now: number,
): Promise<number> {
  const addresses = await endBans(trx, fleet.workspaceId, which)
  const changes = addresses.map((address) => ({
    address,
    kind: 'unbanned' as const,
    expiresAt: null,
    cause,
  }))
  await writeChanges(trx, fleet, changes, new Date(now))
  return addresses.length
}

function refuse(message: string): Fault {
  return new Fault('invalid_request', `${message}.`, { details: [{ path: 'ip', message }] })
}

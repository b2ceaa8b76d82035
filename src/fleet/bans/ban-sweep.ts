import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import { repeatWork } from '../../jobs/repeat-work.ts'
import type { DB } from '../../store/tables.ts'
import { loadProtection, type ProtectionDeps } from '../protection.ts'
import { listWithNewAddresses, lockFleet } from '../fleet.sql.ts'
import { unbanLocked } from './bans.ts'
import { expireBans, listActiveAddresses, listWithExpired } from './fleet-bans.sql.ts'
import { writeChanges } from './write-changes.ts'

export type FleetSweepDeps = ProtectionDeps & { db: Kysely<DB>; log: Logger; clock: () => number }

/** Milliseconds between two runs. Bans end on servers by their own time. */
const RUN_INTERVAL_MS = 2_000
/** New addresses are looked for a little further back, because their transactions take time. */
const OVERLAP_MS = 30_000

/**
 * Ends bans whose time is over, and bans of addresses that turned out to be protected.
 * @returns stops it
 */
export const startFleetSweep = (deps: FleetSweepDeps): (() => Promise<void>) =>
  repeatWork(() => sweepFleets(deps), {
    intervalMs: RUN_INTERVAL_MS,
    log: deps.log,
    failure: 'ended bans could not be recorded; retrying',
  })

/** Runs once, over all workspaces. */
async function sweepFleets(deps: FleetSweepDeps): Promise<void> {
  const { db, clock } = deps
  const now = new Date(clock())
  for (const workspaceId of await listWithExpired(db, now)) await endExpired(db, workspaceId, now)
  const since = new Date(now.getTime() - OVERLAP_MS)
  for (const workspaceId of await listWithNewAddresses(db, since))
    await releaseProtected(deps, workspaceId, now)
}

async function endExpired(db: Kysely<DB>, workspaceId: string, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const fleet = await lockFleet(trx, workspaceId)
    if (!fleet) return
    const addresses = await expireBans(trx, workspaceId, now)
    const ended = { kind: 'expired' as const, expiresAt: null, cause: { by: 'time' as const } }
    const changes = addresses.map((address) => ({ address, ...ended }))
    await writeChanges(trx, fleet, changes, now)
  })
}

/** Ends bans of the workspace’s own servers and members, which were unknown when they began. */
async function releaseProtected(deps: FleetSweepDeps, workspaceId: string, now: Date) {
  const active = await listActiveAddresses(deps.db, workspaceId)
  if (active.length === 0) return
  await deps.db.transaction().execute(async (trx) => {
    const fleet = await lockFleet(trx, workspaceId)
    if (!fleet) return
    const protection = await loadProtection(trx, workspaceId, deps)
    for (const address of active) {
      const reason = protection.reasonFor(address)
      if (reason === null) continue
      const cause = { by: 'protection' as const, reason }
      fleet.cursor += await unbanLocked(trx, fleet, { addresses: [address] }, cause, now.getTime())
    }
  })
}

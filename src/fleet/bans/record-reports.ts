import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { MAX_ACTIVE_BANS, MAX_REMEMBERED_ADDRESSES, MAX_SERVERS } from '../limits.ts'
import { loadProtection, type ProtectionDeps } from '../protection.ts'
import { applySighting, DEFAULT_RULES, ruleFor, type FleetRule } from '../fleet-rules.ts'
import { lockFleet, saveServers } from '../fleet.sql.ts'
import { countBans, findBans, saveBans, type BanRow, type NewChange } from './fleet-bans.sql.ts'
import { writeChanges } from './write-changes.ts'

/** Reports of one request with a token of the workspace. */
export type FleetReports = {
  workspaceId: string
  token: { id: string; label: string }
  /** The address that the request came from. */
  server: string
  reports: { address: string; service: string; count: number }[]
}

/**
 * Applies reports of one workspace to its list: bans, extends, or only remembers their addresses.
 * @param now milliseconds since 1970
 */
export async function recordReports(
  { db, ...deps }: ProtectionDeps & { db: Kysely<DB> },
  workspaceId: string,
  requests: FleetReports[],
  now: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const fleet = await lockFleet(trx, workspaceId)
    if (!fleet) return
    const at = new Date(now)
    const servers = new Map(
      requests.map(({ server, token }) => [server, { address: server, tokenId: token.id }]),
    )
    const seen = { servers: [...servers.values()], at, as: 'reported' as const, most: MAX_SERVERS }
    await saveServers(trx, workspaceId, seen)
    const protection = await loadProtection(trx, workspaceId, deps)
    const reports = withRules(requests, fleet.rules ?? DEFAULT_RULES).filter(
      ({ address }) => protection.reasonFor(address) === null,
    )
    if (reports.length === 0) return

    const addresses = [...new Set(reports.map(({ address }) => address))]
    const known = new Map((await findBans(trx, workspaceId, addresses)).map((b) => [b.address, b]))
    const counts = await countBans(trx, workspaceId)
    const { bans, changes } = applyReports(reports, known, roomOf(counts), now)
    const numbers = await writeChanges(trx, fleet, [...changes.values()], at)
    for (const [index, address] of [...changes.keys()].entries()) {
      const ban = bans.get(address)
      if (ban && changes.get(address)?.kind === 'banned') ban.change = numbers[index] ?? 0
    }
    await saveBans(trx, workspaceId, [...bans.values()])
  })
}

type RuledReport = FleetReports['reports'][number] & {
  token: FleetReports['token']
  rule: FleetRule
}

function withRules(requests: FleetReports[], rules: readonly FleetRule[]): RuledReport[] {
  return requests.flatMap(({ token, reports }) =>
    reports.flatMap((report) => {
      const rule = ruleFor(rules, report.service)
      return rule ? { ...report, token, rule } : []
    }),
  )
}

type Room = { remembered: number; active: number }

const roomOf = ({ remembered, active }: Room): Room => ({
  remembered: MAX_REMEMBERED_ADDRESSES - remembered,
  active: MAX_ACTIVE_BANS - active,
})

/** Applies reports in order. Of several changes of one address, the first is the one to tell. */
function applyReports(
  reports: RuledReport[],
  known: Map<string, BanRow>,
  room: Room,
  now: number,
): { bans: Map<string, BanRow>; changes: Map<string, NewChange> } {
  const bans = new Map<string, BanRow>()
  const changes = new Map<string, NewChange>()
  for (const { address, service, count, token, rule } of reports) {
    const before = bans.get(address) ?? known.get(address)
    if (!before && room.remembered <= 0) continue
    if (!before) room.remembered -= 1
    const sighting = { tokenId: token.id, service, count, at: now }
    const { state, change } = applySighting(before, sighting, rule)
    const isNew = change === 'banned'
    const hasRoom = !isNew || room.active > 0
    if (isNew && hasRoom) room.active -= 1
    const { bans: bansBefore = 0, banSeconds = null } = before ?? {}
    bans.set(address, {
      change: 0,
      reason: '',
      bannedAt: null,
      ...before,
      ...state,
      ...(isNew && hasRoom && { bannedAt: now, reason: '' }),
      // A full list remembers the report only.
      ...(!hasRoom && { bans: bansBefore, banSeconds, expiresAt: null }),
      address,
      seenAt: now,
    })
    if (change === null || !hasRoom || changes.has(address)) continue
    const cause = { by: 'report' as const, token: token.label, service, count }
    changes.set(address, { address, kind: change, expiresAt: state.expiresAt, cause })
  }
  return { bans, changes }
}

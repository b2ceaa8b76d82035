import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import type { TokenOwner } from '../../abuse/tokens/report-tokens.sql.ts'
import { changeFleet, unbanLocked } from './bans.ts'
import { findBans, listHistory, saveBans } from './fleet-bans.sql.ts'

/** Changes of a ban in which a member’s decision is looked for. */
const MAX_CHANGES_OF_BAN = 100

/**
 * Takes back what a server reported about an address. Its ban ends on every server, unless another
 * server reported the address too, or a member banned it.
 */
export async function withdrawReports(
  db: Kysely<DB>,
  token: TokenOwner,
  address: string,
  now: number,
): Promise<void> {
  const { workspaceId } = token
  const [known] = await findBans(db, workspaceId, [address])
  if (!known?.sightings.some(({ tokenId }) => tokenId === token.id)) return
  await changeFleet(db, workspaceId, async (trx, fleet) => {
    const [ban] = await findBans(trx, workspaceId, [address])
    if (!ban) return
    const sightings = ban.sightings.filter(({ tokenId }) => tokenId !== token.id)
    await saveBans(trx, workspaceId, [{ ...ban, sightings }])
    const isActive = ban.expiresAt !== null && ban.expiresAt > now
    if (!isActive || sightings.length > 0) return
    const history = await listHistory(trx, workspaceId, {
      before: null,
      limit: MAX_CHANGES_OF_BAN,
      address,
    })
    const begin = history.findIndex(({ kind }) => kind === 'banned')
    const changes = history.slice(0, begin === -1 ? undefined : begin + 1)
    if (changes.some(({ cause }) => cause.by === 'member')) return
    const cause = { by: 'withdrawal' as const, token: token.label }
    await unbanLocked(trx, fleet, { addresses: [address] }, cause, now)
  })
}

import type { Blocklist } from '../protocols/dnsbl/catalogue.ts'
import type { Db } from '../store/database.ts'
import { listWatches, type Watched } from './listings/store.ts'
import { modeOf } from './modes/modes.ts'
import { listChoices } from './modes/store.ts'

/** Whether watching an address tells the account by itself, now or soon, that these lists have let it go. */
export async function isWatched(
  db: Db,
  watched: Watched,
  lists: readonly Pick<Blocklist, 'zone' | 'alert'>[],
): Promise<boolean> {
  const zones = lists.map(({ zone }) => zone)
  const watches = await listWatches(db, watched, zones)
  const choices = (await listChoices(db, [watched.accountId])).get(watched.accountId) ?? {}
  return lists.every((list) =>
    watches.some(({ zone, lists: own }) => zone === list.zone && modeOf(list, own, choices) === 'alert'),
  )
}

import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import { createMirror } from '../../store/mirror.ts'
import { notify, type Notifications } from '../../store/notifications.ts'
import type { Standing } from '../scoring/score.ts'
import { listStandings } from './reputation.sql.ts'
import { HOUR_MS } from '../../time.ts'
import { createRecentEntries } from '../../recent-entries.ts'

/** The networks with a reputation, in memory and the same in every instance. */
export type Standings = {
  of(network: string): Standing
  /** Whether there are too few established networks to require them. */
  isBootstrap(): boolean
  /** The networks of these that were not marked as seen within the hour. */
  unseen(networks: string[], now: number): string[]
  markSeen(networks: string[], now: number): void
  close(): void
}

/** Networks remembered as seen per instance. A forgotten one is marked again. */
const MAX_SEEN_NETWORKS = 100_000

/** Established networks from which on a listing requires them. */
const MIN_ESTABLISHED_NETWORKS = 10
const CHANNEL = 'abuse.standings'

export async function createStandings(
  db: Db,
  notifications: Notifications,
  log: Logger,
): Promise<Standings> {
  let standings = new Map<string, Standing>()
  const seen = createRecentEntries<number>(MAX_SEEN_NETWORKS)
  const { close } = await createMirror({ notifications, log }, CHANNEL, async () => {
    standings = new Map(
      (await listStandings(db)).map(({ network, standing }) => [network, standing]),
    )
  })
  return {
    of: (network) => standings.get(network) ?? 'new',
    isBootstrap: () => standings.size < MIN_ESTABLISHED_NETWORKS,
    unseen: (networks, now) =>
      networks.filter((network) => now - (seen.get(network) ?? -Infinity) >= HOUR_MS),
    markSeen(networks, now) {
      for (const network of networks) seen.set(network, now)
    },
    close,
  }
}

/** Notifies every instance that reputations have changed. */
export async function notifyStandingsChanged(db: Db): Promise<void> {
  await notify(db, CHANNEL, null)
}

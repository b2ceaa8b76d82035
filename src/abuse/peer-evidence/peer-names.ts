import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import { createMirror } from '../../store/mirror.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { basePathOf } from '../../setting-values.ts'
import { listPeerUrls } from './peer-evidence.sql.ts'

/** Notifies all instances that peers were added, approved or deleted. */
export const PEERS_CHANGED = 'abuse.peers'

/** The name of an installation: its host, with the port if it is not the usual one, and its path. */
export const nameOf = (url: string) => `${new URL(url).host}${basePathOf(url)}`

/** The names of peers, in memory and the same in every instance. */
export type PeerNames = {
  /** Undefined for a peer whose evidence is being deleted. */
  of(peerId: string): string | undefined
  close(): void
}

export async function openPeerNames(
  db: Kysely<DB>,
  notifications: Notifications,
  log: Logger,
): Promise<PeerNames> {
  let names = new Map<string, string>()
  const { close } = await createMirror({ notifications, log }, PEERS_CHANGED, async () => {
    names = new Map((await listPeerUrls(db)).map(({ id, url }) => [id, nameOf(url)]))
  })
  return {
    of: (peerId) => names.get(peerId),
    close,
  }
}

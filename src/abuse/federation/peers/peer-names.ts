import type { Kysely } from 'kysely'
import type { Logger } from '../../../log.ts'
import { createMirror } from '../../../store/mirror.ts'
import type { Notifications } from '../../../store/notifications.ts'
import type { DB } from '../../../store/tables.ts'
import { nameOf } from '../identity.ts'
import { listPeerUrls } from './store.ts'
import { PEERS_CHANGED } from './transitions.ts'

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

import type { Kysely } from 'kysely'
import type { Logger } from '../../../log.ts'
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
  const read = async () => new Map((await listPeerUrls(db)).map(({ id, url }) => [id, nameOf(url)]))
  let names = await read()
  function reload(): void {
    void read().then(
      (fresh) => (names = fresh),
      (err: unknown) => log.warn({ err }, 'the names of peers could not be read again'),
    )
  }
  const stops = [notifications.on(PEERS_CHANGED, reload), notifications.onReconnect(reload)]
  return {
    of: (peerId) => names.get(peerId),
    close: () => stops.forEach((stop) => stop()),
  }
}

import type { Db } from './database.ts'
import { notify, type Notification, type Notifications } from './notifications.ts'

/**
 * The modules whose data can change. `requests` are captured requests; their `id` is the
 * endpoint’s.
 */
export const CHANGE_TOPICS = [
  'monitoring',
  'dmarc',
  'delisting',
  'migrations',
  'alerts',
  'webhooks',
  'requests',
  'attacks',
  'checks',
  'account',
  'workspace',
  'administration',
] as const
export type ChangeTopic = (typeof CHANGE_TOPICS)[number]

/** A change. Without an id, several objects or the whole module changed. */
export type Change = { room: ChangeTopic; id: string | null }

/** The audience of changes that concern all administrators. */
export const ADMINISTRATORS = 'administrators'
export const EVERYONE = 'everybody'

/** `audience` is the id of a workspace (of an account for `account`), or `ADMINISTRATORS`. */
export type ChangeNotice = Change & { audience: string }

const CHANNEL = 'changed'

/** Changes per notification, of about 95 bytes each. */
const CHANGES_PER_NOTIFICATION = 75

/**
 * Notifies all instances of a change; within a transaction, when it commits. Dashboards then fetch
 * the changed data again.
 */
export async function notifyChange(
  db: Db,
  audience: string,
  room: ChangeTopic,
  id: string | null = null,
): Promise<void> {
  await notifyChanges(db, [{ audience, room, id }])
}

/** The notification of one change, to be sent together with others. */
export function changeNotification(
  audience: string,
  room: ChangeTopic,
  id: string | null,
): Notification {
  return [CHANNEL, [[audience, room, id]]]
}

/** Notifies all instances of several changes. */
export async function notifyChanges(db: Db, changes: ChangeNotice[]): Promise<void> {
  const words = changes.map(({ audience, room, id }) => [audience, room, id])
  for (let at = 0; at < words.length; at += CHANGES_PER_NOTIFICATION)
    await notify(db, CHANNEL, words.slice(at, at + CHANGES_PER_NOTIFICATION))
}

/**
 * Subscribes to changes.
 * @param missed called when some may have been missed
 * @returns ends the subscription
 */
export function onChange(
  notifications: Notifications,
  heard: (told: ChangeNotice) => void,
  missed: () => void,
): () => void {
  const ends = [
    notifications.on(CHANNEL, (words) => {
      for (const [audience, room, id] of words as [string, ChangeTopic, string | null][])
        heard({ audience, room, id })
    }),
    notifications.onReconnect(missed),
  ]
  return () => ends.forEach((end) => end())
}

import type { Db } from './database.ts'
import { notify, type Notifications } from './notifications.ts'

/**
 * Where something changed; `requests` are those that a webhook endpoint captured, `id` is the
 * endpoint's.
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
  'administration',
] as const
export type ChangeTopic = (typeof CHANGE_TOPICS)[number]

/** What changed; without an id more than one thing did, or the room as a whole. */
export type Change = { room: ChangeTopic; id: string | null }

/** Whom it concerns, where that is not one account. */
export const ADMINISTRATORS = 'administrators'
export const EVERYONE = 'everybody'

/** `audience` is the id of an account, or one of the words above. */
export type ChangeNotice = Change & { audience: string }

const CHANNEL = 'changed'

/** Of some 95 bytes each, in one signal. */
const CHANGES_PER_NOTIFICATION = 75

/**
 * Says in every instance that something looks different now; within a transaction, when that
 * commits. What is shown somewhere is asked for anew.
 */
export async function notifyChange(
  db: Db,
  audience: string,
  room: ChangeTopic,
  id: string | null = null,
): Promise<void> {
  await notifyChanges(db, [{ audience, room, id }])
}

/** The same of many things at once. */
export async function notifyChanges(db: Db, changes: ChangeNotice[]): Promise<void> {
  const words = changes.map(({ audience, room, id }) => [audience, room, id])
  for (let at = 0; at < words.length; at += CHANGES_PER_NOTIFICATION)
    await notify(db, CHANNEL, words.slice(at, at + CHANGES_PER_NOTIFICATION))
}

/**
 * @param missed called when some may not have been heard
 * @returns a function that ends it
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

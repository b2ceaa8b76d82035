import type { Db } from './database.ts'
import { notify, type Signals } from './signals.ts'

/** Where something changed; `requests` are those that a webhook endpoint captured, `id` is the endpoint's. */
export const CHANGING = [
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
export type Changing = (typeof CHANGING)[number]

/** What changed; without an id more than one thing did, or the room as a whole. */
export type Change = { room: Changing; id: string | null }

/** Whom it concerns, where that is not one account. */
export const ADMINISTRATORS = 'administrators'
export const EVERYBODY = 'everybody'

/** `whom` is the id of an account, or one of the words above. */
export type Told = Change & { whom: string }

const CHANNEL = 'changed'

/** Of some 95 bytes each, in one signal. */
const AT_ONCE = 75

/**
 * Says in every instance that something looks different now; within a transaction, when that commits. What is shown
 * somewhere is asked for anew.
 */
export async function tellChange(db: Db, whom: string, room: Changing, id: string | null = null): Promise<void> {
  await tellChanges(db, [{ whom, room, id }])
}

/** The same of many things at once. */
export async function tellChanges(db: Db, changes: Told[]): Promise<void> {
  const words = changes.map(({ whom, room, id }) => [whom, room, id])
  for (let at = 0; at < words.length; at += AT_ONCE) await notify(db, CHANNEL, words.slice(at, at + AT_ONCE))
}

/**
 * @param missed called when some may not have been heard
 * @returns a function that ends it
 */
export function onChange(signals: Signals, heard: (told: Told) => void, missed: () => void): () => void {
  const ends = [
    signals.on(CHANNEL, (words) => {
      for (const [whom, room, id] of words as [string, Changing, string | null][]) heard({ whom, room, id })
    }),
    signals.onReconnect(missed),
  ]
  return () => ends.forEach((end) => end())
}

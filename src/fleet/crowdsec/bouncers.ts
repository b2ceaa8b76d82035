import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import {
  findBouncer,
  saveBouncers,
  type BouncerKey,
  type BouncerState,
} from './fleet-bouncers.sql.ts'

/** Remembers what each bouncer received, so that the next answer has only the changes since. */
export type Bouncers = {
  /** Undefined for a bouncer that received nothing yet. */
  find(key: BouncerKey): Promise<BouncerState | undefined>
  /** Records what a bouncer has received completely. */
  received(key: BouncerKey, state: BouncerState): void
  close(): Promise<void>
}

const MAX_REMEMBERED = 50_000
const MAX_PER_TOKEN = 1_000
/**
 * Milliseconds until a state is stored, so that another instance can continue from it; longer when
 * only the time of the request is new.
 */
const STORE_CHANGE_MS = 200
const STORE_TIME_MS = 30_000

const textOf = ({ tokenId, address, name }: BouncerKey) => `${tokenId} ${address} ${name}`

export function createBouncers({ db, log }: { db: Kysely<DB>; log: Logger }): Bouncers {
  const states = createRecentEntries<BouncerState>(MAX_REMEMBERED)
  let waiting = new Map<string, BouncerKey & BouncerState>()
  let timer: NodeJS.Timeout | undefined
  let dueAt = Infinity
  let flushing = Promise.resolve()

  async function flush(): Promise<void> {
    timer = undefined
    dueAt = Infinity
    const batch = [...waiting.values()]
    waiting = new Map()
    if (batch.length === 0) return
    await saveBouncers(db, batch, { at: new Date(), most: MAX_PER_TOKEN }).catch((err: unknown) =>
      log.warn({ err }, 'bouncers could not be recorded'),
    )
  }

  function flushIn(milliseconds: number): void {
    const due = performance.now() + milliseconds
    if (due >= dueAt) return
    clearTimeout(timer)
    dueAt = due
    timer = setTimeout(() => void (flushing = flushing.then(flush)), milliseconds)
  }

  return {
    async find(key) {
      const known = states.get(textOf(key))
      if (known) return known
      const stored = await findBouncer(db, key)
      if (stored) states.set(textOf(key), stored)
      return stored
    },
    received(key, state) {
      const before = states.get(textOf(key))
      states.set(textOf(key), state)
      waiting.set(textOf(key), { ...key, ...state })
      const isKnown =
        before?.cursor === state.cursor &&
        before.sharedVersion === state.sharedVersion &&
        before.feeds?.key === state.feeds?.key
      flushIn(isKnown ? STORE_TIME_MS : STORE_CHANGE_MS)
    },
    async close() {
      clearTimeout(timer)
      await flushing
      await flush()
    },
  }
}

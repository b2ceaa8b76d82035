import { ADMINISTRATORS, EVERYONE, onChange, type Change, type ChangeNotice } from '../store/changes.ts'
import type { Notifications } from '../store/notifications.ts'
import type { Caller } from './auth.ts'

/** Somebody who is told what changes. */
export type ChangeListener = {
  caller: Pick<Caller, 'accountId' | 'admin'>
  onChange(change: Change): void
  /** Anything may have changed. */
  onMissed(): void
}

export type ChangeHub = {
  /** Tells from now on, and what was told just before. @returns a function that ends it */
  add(listener: ChangeListener): () => void
  close(): void
}

/** Milliseconds for which a change is told to who comes later: it may lie between their first look and their first event. */
export const REPLAY_MS = 5_000
/** Changes that are remembered for that; of more, who comes is told to look at everything. */
const MAX_REPLAYED_CHANGES = 1_000

/** One ear for the signals of all instances, and who in this instance wants to hear of which. */
export function createChangeHub(notifications: Notifications): ChangeHub {
  const listeners = new Set<ChangeListener>()
  const byAccount = new Map<string, Set<ChangeListener>>()
  const recent = createRecentChanges()
  const end = onChange(
    notifications,
    (told) => {
      recent.note(told)
      const { audience, ...change } = told
      const those = byAccount.get(audience) ?? (isShared(audience) ? listeners : [])
      for (const listener of those) if (isVisibleTo(audience, listener)) listener.onChange(change)
    },
    () => listeners.forEach((listener) => listener.onMissed()),
  )

  return {
    add(listener) {
      const { accountId } = listener.caller
      const those = byAccount.get(accountId) ?? new Set()
      byAccount.set(accountId, those.add(listener))
      listeners.add(listener)
      const before = recent.all()
      if (before === null) listener.onMissed()
      else for (const { audience, ...change } of before) if (isVisibleTo(audience, listener)) listener.onChange(change)
      return () => {
        listeners.delete(listener)
        those.delete(listener)
        if (those.size === 0) byAccount.delete(accountId)
      }
    },
    close: end,
  }
}

const isShared = (audience: string) => audience === EVERYONE || audience === ADMINISTRATORS

function isVisibleTo(audience: string, { caller }: ChangeListener): boolean {
  return audience === caller.accountId || audience === EVERYONE || (audience === ADMINISTRATORS && caller.admin)
}

/** What was told in the last seconds, each thing once; null when it was too much to remember. */
function createRecentChanges() {
  const known = new Map<string, { told: ChangeNotice; at: number }>()
  let forgotAt = -Infinity

  function forget(): void {
    for (const [key, { at }] of known) {
      const isOld = performance.now() - at > REPLAY_MS
      if (!isOld && known.size <= MAX_REPLAYED_CHANGES) return
      if (!isOld) forgotAt = performance.now()
      known.delete(key)
    }
  }

  return {
    note(told: ChangeNotice): void {
      const key = `${told.audience} ${told.room} ${told.id}`
      known.delete(key)
      known.set(key, { told, at: performance.now() })
      forget()
    },
    all(): ChangeNotice[] | null {
      forget()
      return performance.now() - forgotAt < REPLAY_MS ? null : Array.from(known.values(), ({ told }) => told)
    },
  }
}

import {
  ADMINISTRATORS,
  EVERYONE,
  onChange,
  type Change,
  type ChangeNotice,
} from '../../store/changes.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { Caller } from '../auth.ts'

/** A subscriber to the changes of a workspace and of an account. */
type ChangeListener = {
  caller: Pick<Caller, 'accountId' | 'workspaceId' | 'admin'>
  onChange(change: Change): void
  /** Called when changes may have been missed. */
  onMissed(): void
}

export type ChangeHub = {
  /**
   * Subscribes a listener, beginning with the changes of the last seconds. @returns a function that
   * unsubscribes
   */
  add(listener: ChangeListener): () => void
  close(): void
}

/**
 * Changes this recent are replayed to a new listener: they may fall between its first request and
 * its first event.
 */
const REPLAY_MS = 5_000
/** Changes kept for the replay. After more of them, a new listener gets `missed` instead. */
const MAX_REPLAYED_CHANGES = 1_000

/**
 * Receives the change notifications of all instances once, and distributes them to the listeners of
 * this instance.
 */
export function createChangeHub(notifications: Notifications): ChangeHub {
  const listeners = new Set<ChangeListener>()
  const byAudience = new Map<string, Set<ChangeListener>>()
  const recent = createRecentChanges()
  const end = onChange(
    notifications,
    (notice) => {
      recent.add(notice)
      const { audience, ...change } = notice
      const matches = byAudience.get(audience) ?? (isShared(audience) ? listeners : [])
      for (const listener of matches) if (isVisibleTo(notice, listener)) listener.onChange(change)
    },
    () => listeners.forEach((listener) => listener.onMissed()),
  )

  return {
    add(listener) {
      const audiences = audiencesOf(listener)
      for (const audience of audiences)
        byAudience.set(audience, (byAudience.get(audience) ?? new Set()).add(listener))
      listeners.add(listener)
      const before = recent.all()
      if (before === null) listener.onMissed()
      else
        for (const notice of before) {
          const { audience: _, ...change } = notice
          if (isVisibleTo(notice, listener)) listener.onChange(change)
        }
      return () => {
        listeners.delete(listener)
        for (const audience of audiences) {
          byAudience.get(audience)?.delete(listener)
          if (byAudience.get(audience)?.size === 0) byAudience.delete(audience)
        }
      }
    },
    close: end,
  }
}

const isShared = (audience: string) => audience === EVERYONE || audience === ADMINISTRATORS

function audiencesOf({ caller }: ChangeListener): Set<string> {
  return new Set([caller.accountId, caller.workspaceId])
}

/** The first workspace of an account has its id: the topic tells which of both is meant. */
function isVisibleTo({ audience, room }: ChangeNotice, { caller }: ChangeListener): boolean {
  return (
    audience === (room === 'account' ? caller.accountId : caller.workspaceId) ||
    audience === EVERYONE ||
    (audience === ADMINISTRATORS && caller.admin)
  )
}

/** The changes of the last seconds, each object once; null after too many. */
function createRecentChanges() {
  const known = new Map<string, { notice: ChangeNotice; at: number }>()
  let droppedAt = -Infinity

  function dropOld(): void {
    for (const [key, { at }] of known) {
      const isOld = performance.now() - at > REPLAY_MS
      if (!isOld && known.size <= MAX_REPLAYED_CHANGES) return
      if (!isOld) droppedAt = performance.now()
      known.delete(key)
    }
  }

  return {
    add(notice: ChangeNotice): void {
      const key = `${notice.audience} ${notice.room} ${notice.id}`
      known.delete(key)
      known.set(key, { notice, at: performance.now() })
      dropOld()
    },
    all(): ChangeNotice[] | null {
      dropOld()
      return performance.now() - droppedAt < REPLAY_MS
        ? null
        : Array.from(known.values(), ({ notice }) => notice)
    },
  }
}

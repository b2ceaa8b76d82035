import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'
import { messages } from './messages.ts'
import { showToast } from './toasts.ts'

/** Milliseconds during which a deletion can be undone. */
const UNDO_MS = 8_000

/** The ids of objects that are deleted, or will be when their toast closes. */
const deleted = new Set<string>()

export function isDeleted(id: unknown): boolean {
  return typeof id === 'string' && deleted.has(id)
}

/** Leaves out what the user has just deleted: the service may still list it. */
export function withoutDeleted<T extends { id: string }>(rows: T[]): T[] {
  return rows.filter(({ id }) => !deleted.has(id))
}

type Deletion = {
  id: string
  /** Says in the toast what is being deleted. */
  text: string
  /** The query of the list that shows it; its `queryFn` uses `withoutDeleted`. */
  list: QueryKey
  /** Sends the request. */
  send: () => Promise<unknown>
}

/** Deletions whose request is not sent yet. */
const pending = new Map<string, () => Promise<void>>()

/**
 * Hides an object at once, and offers to undo that. The request is sent when the toast closes, when
 * the user signs out, or when the page is left. If it fails, the object comes back with the reason.
 */
export function deleteWithUndo(queries: QueryClient, { id, text, list, send }: Deletion): void {
  // The screen of a deleted object may still be open.
  const predicate = ({ queryKey }: Query) => !queryKey.some(isDeleted)
  const refresh = () => void queries.invalidateQueries({ queryKey: [list[0]], predicate })
  function restore(): void {
    deleted.delete(id)
    refresh()
  }
  async function commit(): Promise<void> {
    if (!pending.delete(id)) return
    close()
    try {
      await send()
      refresh()
    } catch (error) {
      restore()
      showToast({ isProblem: true, text: messages.notDeleted((error as Error).message) })
    }
  }
  function undo(): void {
    if (!pending.delete(id)) return
    close()
    restore()
  }

  deleted.add(id)
  pending.set(id, commit)
  void hide(queries, list, id)
  const close = showToast({
    text,
    action: { label: messages.undo, run: undo },
    lastsMs: UNDO_MS,
    onExpire: () => void commit(),
  })
}

/** A response from before would show the object again. */
async function hide(queries: QueryClient, queryKey: QueryKey, id: string): Promise<void> {
  await queries.cancelQueries({ queryKey })
  queries.setQueryData<{ id: string }[]>(queryKey, (rows) => rows?.filter((row) => row.id !== id))
}

/** Sends all pending deletions now. Requests that began here outlive the page (`keepalive`). */
export async function sendDeletions(): Promise<void> {
  await Promise.all([...pending.values()].map((commit) => commit()))
}

/** Sends pending deletions when the page is left. Called once per tab. */
export function sendDeletionsOnLeave(): void {
  window.addEventListener('pagehide', () => void sendDeletions())
}

import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'
import { messages } from './messages.ts'
import { showToast } from './toasts.ts'
import { runEach, type RowFailure } from './ui/lists/run-each.ts'

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

/** A page of a list; `total` counts the rows of all pages. */
export type RowPage<T> = { rows: T[]; pagination: { total: number } }

/** Leaves out what the user has just deleted, as `withoutDeleted` does. */
export function pageWithoutDeleted<T extends { id: string }, P extends RowPage<T>>(page: P): P {
  const rows = withoutDeleted(page.rows)
  const total = page.pagination.total - (page.rows.length - rows.length)
  return { ...page, rows, pagination: { ...page.pagination, total } }
}

type Deletion = {
  id: string
  /** Says in the toast what is being deleted. */
  text: string
  /** The query of the list that shows it, or the first part of the keys of its pages; their `queryFn` uses `withoutDeleted` or `pageWithoutDeleted`. */
  list: QueryKey
  /** Sends the request. */
  send: () => Promise<unknown>
}

/** Hides one object at once, and offers to undo that; see `deleteAllWithUndo`. */
export function deleteWithUndo(queries: QueryClient, { id, send, ...rest }: Deletion): void {
  deleteAllWithUndo(queries, { rows: [{ id }], send, ...rest })
}

type Deletions<T> = {
  rows: T[]
  text: string
  list: QueryKey
  send: (row: T) => Promise<unknown>
  /** Names the rows that could not be deleted; not needed for a single one. */
  nameOf?: (row: T) => string
}

/**
 * Deletions whose requests are not sent yet, by a key of their own. `isLeaving`: the page is going
 * away, so that no request can wait for another one.
 */
const pending = new Map<symbol, (isLeaving: boolean) => Promise<void>>()

/**
 * Hides objects at once, and offers to undo that. The requests are sent when the toast closes, when
 * the user signs out, or when the page is left. Objects whose request fails come back, with the
 * reason.
 */
export function deleteAllWithUndo<T extends { id: string }>(
  queries: QueryClient,
  { rows, text, list, send, nameOf }: Deletions<T>,
): void {
  const key = Symbol(text)
  // The screen of a deleted object may still be open.
  const predicate = ({ queryKey }: Query) => !queryKey.some(isDeleted)
  const refresh = () => void queries.invalidateQueries({ queryKey: [list[0]], predicate })
  function failed(failures: RowFailure<T>[]): string {
    if (!nameOf) return messages.notDeleted(failures[0]?.reason ?? '')
    const named = failures.map(({ row, reason }) => ({ name: nameOf(row), reason }))
    return messages.someNotDeleted(rows.length, named)
  }
  async function commit(isLeaving: boolean): Promise<void> {
    if (!pending.delete(key)) return
    close()
    const failures = await runEach(rows, send, undefined, isLeaving ? rows.length : undefined)
    failures.forEach(({ row }) => deleted.delete(row.id))
    refresh()
    if (failures.length > 0) showToast({ isProblem: true, text: failed(failures) })
  }
  function undo(): void {
    if (!pending.delete(key)) return
    close()
    rows.forEach(({ id }) => deleted.delete(id))
    refresh()
  }

  rows.forEach(({ id }) => deleted.add(id))
  pending.set(key, commit)
  void hide(queries, list)
  const close = showToast({
    text,
    action: { label: messages.undo, run: undo },
    lastsMs: UNDO_MS,
    onExpire: () => void commit(false),
  })
}

type Row = { id: string }

/** A response from before would show the objects again. */
async function hide(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  await queries.cancelQueries({ queryKey })
  queries.setQueriesData<Row[] | RowPage<Row>>(
    { queryKey },
    (shown) => shown && ('rows' in shown ? pageWithoutDeleted(shown) : withoutDeleted(shown)),
  )
}

/** Sends all pending deletions now. Requests that began here outlive the page (`keepalive`). */
export async function sendDeletions(): Promise<void> {
  await Promise.all([...pending.values()].map((commit) => commit(true)))
}

/** Sends pending deletions when the page is left. Called once per tab. */
export function sendDeletionsOnLeave(): void {
  window.addEventListener('pagehide', () => void sendDeletions())
}

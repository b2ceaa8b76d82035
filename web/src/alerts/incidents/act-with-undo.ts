import type { QueryClient } from '@tanstack/react-query'
import { messages } from '../../messages.ts'
import { showToast } from '../../toasts.ts'
import { runEach } from '../../ui/lists/run-each.ts'
import { done as texts } from './messages.ts'

/** Milliseconds for which Undo is offered. */
const UNDO_MS = 8_000

type Act<T> = {
  rows: T[]
  nameOf: (row: T) => string
  /** Says in the toast what was done. */
  text: string
  /** Sends the request of one row; resolves with the request that takes it back. */
  send: (row: T) => Promise<() => Promise<unknown>>
}

/** Acts on each row at once, and offers to take that back. */
export async function actWithUndo<T>(
  queries: QueryClient,
  { rows, nameOf, text, send }: Act<T>,
): Promise<void> {
  const reverts: (() => Promise<unknown>)[] = []
  const refresh = () => queries.invalidateQueries({ queryKey: ['alerts'] })
  const failures = await runEach(rows, async (row) => void reverts.push(await send(row)))
  await refresh()
  if (failures.length > 0) {
    const named = failures.map(({ row, reason }) => ({ name: nameOf(row), reason }))
    showToast({ isProblem: true, text: texts.failed(named) })
  }
  if (reverts.length === 0) return
  const close = showToast({ text, action: { label: messages.undo, run: undo }, lastsMs: UNDO_MS })

  function undo(): void {
    close()
    void runEach(reverts, (revert) => revert()).then((failed) => {
      const reasons = failed.map(({ reason }) => ({ name: messages.undo, reason }))
      if (reasons.length > 0) showToast({ isProblem: true, text: texts.failed(reasons) })
      return refresh()
    })
  }
}

import { useState } from 'react'
import { messages } from '../messages.ts'
import { runEach, type RowFailure } from './run-each.ts'
import type { RowAction } from './row-action.ts'

type Problem<T> = { title: string; failures: RowFailure<T>[] }
type Running = { label: string; text: string }

/** Runs an action for the selected rows; keeps the rows selected whose action failed. */
export function useRowActions<T>(rowId: (row: T) => string, select: (ids: string[]) => void) {
  const [running, setRunning] = useState<Running | null>(null)
  const [problem, setProblem] = useState<Problem<T> | null>(null)

  async function run(action: RowAction<T>, rows: T[]): Promise<void> {
    const { label, send, apply, onDone, failed = messages.table.failed } = action
    setProblem(null)
    if (apply) {
      apply(rows)
      return select([])
    }
    if (!send) return
    const progress = (done: number) =>
      setRunning({ label, text: messages.table.progress(label, done, rows.length) })
    progress(0)
    const failures = await runEach(rows, send, progress)
    await onDone?.()
    setRunning(null)
    if (failures.length > 0) setProblem({ title: failed(failures.length, rows.length), failures })
    select(failures.map(({ row }) => rowId(row)))
  }
  return { run, running, problem }
}

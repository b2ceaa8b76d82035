import { useRef, useState } from 'react'
import { toggleRows } from './selection.ts'

/** The selected rows of a table, by id. */
export function useRowSelection() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const anchor = useRef<string | null>(null)
  /** @param isRange whether all rows from the last one on are switched, too */
  const toggle = (ids: string[], id: string, isRange: boolean): void => {
    const isOn = !selected.has(id)
    setSelected(toggleRows(selected, ids, { id, isOn, anchor: isRange ? anchor.current : null }))
    anchor.current = id
  }
  const select = (ids: string[]): void => {
    anchor.current = null
    setSelected(new Set(ids))
  }
  return { selected, toggle, select }
}

import { useEffect, useRef, type MouseEvent } from 'react'
import type { Column } from './column.ts'
import classes from './data-table.module.css'

/** The checkbox of a row. */
type RowSelection = {
  label: string
  isSelected: boolean
  /** @param isRange with Shift: from the last row that was switched to this one */
  toggle: (isRange: boolean) => void
}

type DataRowProps<T> = { row: T; columns: Column<T>[]; selection: RowSelection | null }

export function DataRow<T>({ row, columns, selection }: DataRowProps<T>) {
  return (
    <tr data-selected={selection?.isSelected}>
      {selection && (
        <td className={classes.select}>
          <label className={classes.box}>
            <input
              type="checkbox"
              data-select
              aria-label={selection.label}
              checked={selection.isSelected}
              onChange={(event) =>
                selection.toggle((event.nativeEvent as unknown as MouseEvent).shiftKey)
              }
            />
          </label>
        </td>
      )}
      {columns.map(({ key, title, cell, align, labelled, short }, at) =>
        at === 0 ? (
          <th key={key} scope="row">
            {cell?.(row)}
          </th>
        ) : (
          <td
            key={key}
            data-align={align}
            data-short={short}
            data-label={labelled ? title : undefined}
          >
            {cell?.(row)}
          </td>
        ),
      )}
    </tr>
  )
}

type SelectShownProps = {
  label: string
  /** The label is for screen readers only. */
  isQuiet?: boolean
  ids: string[]
  selected: ReadonlySet<string>
  onSelect: (ids: string[]) => void
}

/** Selects all shown rows, or none. */
export function SelectShown({ label, isQuiet = false, ids, selected, onSelect }: SelectShownProps) {
  const input = useRef<HTMLInputElement>(null)
  const count = ids.filter((id) => selected.has(id)).length
  const isAll = ids.length > 0 && count === ids.length
  useEffect(() => {
    if (input.current) input.current.indeterminate = count > 0 && !isAll
  }, [count, isAll])
  return (
    <label className={classes.box} data-shown={!isQuiet}>
      <input
        ref={input}
        type="checkbox"
        aria-label={label}
        checked={isAll}
        onChange={() => onSelect(isAll ? [] : ids)}
      />
      {!isQuiet && label}
    </label>
  )
}

import { useRef, useState, type ReactNode } from 'react'
import { useShortcuts } from '../../shortcuts.ts'
import { Button } from '../actions/button.tsx'
import { Notice } from '../feedback/notice.tsx'
import { Muted } from '../layout/page.tsx'
import { messages } from '../messages.ts'
import { PaginationLinks } from '../navigation/pagination.tsx'
import { VisuallyHidden } from '../text/visually-hidden.tsx'
import { filterRows, sortRows, type Column } from './column.ts'
import tableClasses from './table.module.css'
import classes from './data-table.module.css'
import { DataRow, SelectShown } from './data-row.tsx'
import type { Paged } from './paged.ts'
import type { RowAction } from './row-action.ts'
import type { RowFailure } from './run-each.ts'
import { SelectionBar } from './selection-bar.tsx'
import { SortHeading } from './sort-heading.tsx'
import { TableTools } from './table-tools.tsx'
import { useRowActions } from './use-row-actions.ts'
import { useRowSelection } from './use-row-selection.ts'
import { useTableSearch, type TableParameters } from './use-table-search.ts'

export type DataTableProps<T> = {
  caption: string
  columns: Column<T>[]
  /** In the order that is shown until the user sorts. */
  rows: T[]
  rowId: (row: T) => string
  /** The name of a row, for screen readers and messages. */
  nameOf: (row: T) => string
  /** `3 hosts` */
  count: (rows: number) => string
  /** The label of the filter; without it, the table has none. */
  filterLabel?: string
  /** Further filters, beside the filter. */
  filters?: ReactNode
  parameters?: TableParameters
  actions?: RowAction<T>[]
  /** The name of the CSV file, without its ending. */
  csvName?: string
  /** Rows shown at first, and added by each “Show more”; 100 by default. */
  pageRows?: number
  /** `rows` are one page of a list that the service sorts and filters. */
  paged?: Paged<T>
}

/** Rows from which the filter is shown. */
const ROWS_TO_FILTER = 8
const PAGE_ROWS = 100

/**
 * Rows of the same kind that people sort, filter, select, act on and export. On a phone each row is
 * a paragraph.
 */
export function DataTable<T>(props: DataTableProps<T>) {
  const { caption, columns, rows, rowId, nameOf, count, actions = [], paged } = props
  const { pageRows = PAGE_ROWS } = props
  const { sorting, filter, sortBy, filterBy } = useTableSearch(props.parameters)
  const [limit, setLimit] = useState(pageRows)
  const matching = paged ? rows : filterRows(rows, columns, filter)
  const sorted = paged ? rows : sortRows(matching, columns, sorting)
  const shown = sorted.slice(0, limit)
  const shownIds = shown.map(rowId)
  const shownColumns = columns.filter(({ cell }) => cell !== undefined)

  const { selected, toggle, select } = useRowSelection()
  const { run, running, problem } = useRowActions(rowId, select)
  const chosen = sorted.filter((row) => selected.has(rowId(row)))
  const body = useTableShortcuts({
    isSelectable: actions.length > 0,
    hasSelection: chosen.length > 0,
    clear: () => select([]),
  })
  const total = paged?.total ?? rows.length
  const hasFilter = total >= ROWS_TO_FILTER || filter !== ''
  const isSortable = ({ key, sort }: Column<T>) =>
    paged ? paged.sorts.includes(key) : sort !== undefined

  return (
    <div className={classes.frame} ref={body}>
      <TableTools
        columns={columns}
        sortable={total > 1 ? columns.filter(isSortable) : []}
        sorted={sorted}
        sorting={sorting}
        filter={filter}
        filterLabel={hasFilter ? props.filterLabel : undefined}
        filters={props.filters}
        csvName={props.csvName}
        paged={paged}
        onSort={sortBy}
        onFilter={filterBy}
      />
      <SelectionBar
        selected={chosen}
        total={sorted.length}
        actions={actions}
        running={running}
        onRun={run}
        onSelectAll={() => select(sorted.map(rowId))}
        onClear={() => select([])}
      >
        {actions.length > 0 && sorted.length > 0 && (
          <SelectShown
            label={messages.table.selectShown}
            ids={shownIds}
            selected={selected}
            onSelect={select}
          />
        )}
        <Muted>{count(paged?.total ?? sorted.length)}</Muted>
      </SelectionBar>
      <VisuallyHidden>
        <span role="status">{chosen.length > 0 ? messages.table.selected(chosen.length) : ''}</span>
      </VisuallyHidden>
      <div role="alert">{problem && <Failures {...problem} nameOf={nameOf} />}</div>
      {sorted.length === 0 ? (
        <Muted>{messages.table.noMatch}</Muted>
      ) : (
        <table
          className={`${tableClasses.table} ${classes.table}`}
          data-selectable={actions.length > 0}
        >
          <caption>{caption}</caption>
          <thead>
            <tr>
              {actions.length > 0 && (
                <td className={classes.select}>
                  <SelectShown
                    label={messages.table.selectShown}
                    isQuiet
                    ids={shownIds}
                    selected={selected}
                    onSelect={select}
                  />
                </td>
              )}
              {shownColumns.map((column) => (
                <SortHeading
                  key={column.key}
                  column={column}
                  sorting={sorting}
                  onSort={isSortable(column) ? sortBy : undefined}
                />
              ))}
            </tr>
          </thead>
          <tbody data-rows>
            {shown.map((row) => {
              const id = rowId(row)
              return (
                <DataRow
                  key={id}
                  row={row}
                  columns={shownColumns}
                  selection={
                    actions.length > 0
                      ? {
                          label: messages.table.select(nameOf(row)),
                          isSelected: selected.has(id),
                          toggle: (isRange) => toggle(shownIds, id, isRange),
                        }
                      : null
                  }
                />
              )
            })}
          </tbody>
        </table>
      )}
      {sorted.length > limit && (
        <div>
          <Button onClick={() => setLimit(limit + pageRows)}>{messages.table.more}</Button>
        </div>
      )}
      {paged && <PaginationLinks {...paged} />}
    </div>
  )
}

type TableKeys = { isSelectable: boolean; hasSelection: boolean; clear: () => void }

/** `x` selects the row with the focus, `a` goes to the actions, Escape clears the selection. */
function useTableShortcuts({ isSelectable, hasSelection, clear }: TableKeys) {
  const frame = useRef<HTMLDivElement>(null)

  function toggleFocused(): boolean {
    const row = document.activeElement?.closest('[data-rows] > tr')
    const box = frame.current?.contains(row ?? null)
      ? row?.querySelector<HTMLInputElement>('input[data-select]')
      : null
    box?.click()
    return Boolean(box)
  }
  function goToActions(): boolean {
    const first = frame.current?.querySelector<HTMLElement>('[data-actions] button')
    first?.focus()
    return Boolean(first)
  }
  useShortcuts(
    isSelectable
      ? {
          x: [messages.table.keys.select, toggleFocused],
          a: [messages.table.keys.actions, goToActions],
          Escape: [messages.table.keys.clear, () => hasSelection && clear()],
        }
      : {},
    messages.table.keys.title,
  )
  return frame
}

/** Failures that are listed one by one. */
const MAX_LISTED_FAILURES = 10

type FailuresProps<T> = { title: string; failures: RowFailure<T>[]; nameOf: (row: T) => string }

function Failures<T>({ title, failures, nameOf }: FailuresProps<T>) {
  return (
    <Notice tone="bad" title={title}>
      <ul className={classes.failures}>
        {failures.slice(0, MAX_LISTED_FAILURES).map(({ row, reason }) => (
          <li key={nameOf(row)}>{messages.table.reason(nameOf(row), reason)}</li>
        ))}
        {failures.length > MAX_LISTED_FAILURES && (
          <li>{messages.table.moreFailures(failures.length - MAX_LISTED_FAILURES)}</li>
        )}
      </ul>
    </Notice>
  )
}

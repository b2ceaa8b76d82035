import { useState, type ReactNode } from 'react'
import { showToast } from '../../toasts.ts'
import { Button } from '../actions/button.tsx'
import { Choice } from '../forms/choice.tsx'
import { FilterField } from '../forms/filter-field.tsx'
import { messages } from '../messages.ts'
import { parseSorting, sortingText, type Column, type Sorting } from './column.ts'
import { csvText } from './csv.ts'
import { saveCsv } from './save-csv.ts'
import { loadRows, type Paged } from './paged.ts'
import classes from './data-table.module.css'

type TableToolsProps<T> = {
  columns: Column<T>[]
  /** The columns that users can sort by. */
  sortable: Column<T>[]
  /** The rows to export; where the list is paged, those of all pages instead. */
  sorted: T[]
  sorting: Sorting | null
  filter: string
  filterLabel: string | undefined
  filters: ReactNode
  csvName: string | undefined
  paged: Paged<T> | undefined
  onSort: (sorting: Sorting | null) => void
  onFilter: (text: string) => void
}

/** The controls above a data table: filters, the order on a phone, and the CSV file. */
export function TableTools<T>({ sortable, sorting, onSort, ...props }: TableToolsProps<T>) {
  const { filter, filterLabel, filters, onFilter } = props
  return (
    <div className={classes.tools}>
      {filterLabel && <FilterField label={filterLabel} value={filter} onFilter={onFilter} />}
      {filters}
      {sortable.length > 0 && (
        <div className={classes.order}>
          <Choice
            size="normal"
            label={messages.table.sortBy}
            choices={orderChoices(sortable)}
            value={sortingText(sorting) ?? ''}
            onChange={(value) => onSort(parseSorting(value))}
          />
        </div>
      )}
      <Export {...props} />
    </div>
  )
}

type ExportProps<T> = Pick<TableToolsProps<T>, 'columns' | 'sorted' | 'csvName' | 'paged'>

function Export<T>({ columns, sorted, csvName, paged }: ExportProps<T>) {
  const [isBusy, setBusy] = useState(false)
  if (!csvName || sorted.length === 0) return null
  const exported = columns.flatMap(({ title, csv }) => (csv ? [{ title, csv }] : []))
  async function save(name: string): Promise<void> {
    setBusy(true)
    try {
      const rows = paged ? await loadRows(paged) : sorted
      saveCsv(
        name,
        csvText(
          exported.map(({ title }) => title),
          rows.map((row) => exported.map(({ csv }) => csv(row))),
        ),
      )
    } catch (error) {
      showToast({ isProblem: true, text: (error as Error).message })
    }
    setBusy(false)
  }
  return (
    <Button
      size="small"
      kind="quiet"
      icon="download"
      busy={isBusy}
      onClick={() => void save(csvName)}
    >
      {messages.table.exportCsv}
    </Button>
  )
}

/** Each column in both directions, for screens without headings. */
function orderChoices<T>(sortable: Column<T>[]): { value: string; name: string }[] {
  return [
    { value: '', name: messages.table.defaultOrder },
    ...sortable.flatMap(({ key, title, descendsFirst }) => {
      const ascending = { value: key, name: messages.table.ascending(title) }
      const descending = { value: `-${key}`, name: messages.table.descending(title) }
      return descendsFirst ? [descending, ascending] : [ascending, descending]
    }),
  ]
}

import type { ReactNode } from 'react'
import { Button, DownloadLink } from '../actions/button.tsx'
import { Choice } from '../forms/choice.tsx'
import { FilterField } from '../forms/filter-field.tsx'
import { messages } from '../messages.ts'
import { parseSorting, sortingText, type Column, type Sorting } from './column.ts'
import { csvText, saveCsv } from './csv.ts'
import classes from './data-table.module.css'

type TableToolsProps<T> = {
  columns: Column<T>[]
  /** The rows to export. */
  sorted: T[]
  sorting: Sorting | null
  filter: string
  filterLabel: string | undefined
  filters: ReactNode
  csvName: string | undefined
  csvHref: string | undefined
  onSort: ((sorting: Sorting | null) => void) | undefined
  onFilter: (text: string) => void
}

/** The controls above a data table: filters, the order on a phone, and the CSV file. */
export function TableTools<T>({ columns, sorting, onSort, ...props }: TableToolsProps<T>) {
  const { filter, filterLabel, filters, onFilter } = props
  return (
    <div className={classes.tools}>
      {filterLabel && <FilterField label={filterLabel} value={filter} onFilter={onFilter} />}
      {filters}
      {onSort && (
        <div className={classes.order}>
          <Choice
            size="normal"
            label={messages.table.sortBy}
            choices={orderChoices(columns)}
            value={sortingText(sorting) ?? ''}
            onChange={(value) => onSort(parseSorting(value))}
          />
        </div>
      )}
      <Export columns={columns} {...props} />
    </div>
  )
}

type ExportProps<T> = Pick<TableToolsProps<T>, 'columns' | 'sorted' | 'csvName' | 'csvHref'>

function Export<T>({ columns, sorted, csvName, csvHref }: ExportProps<T>) {
  if (csvHref) return <DownloadLink href={csvHref}>{messages.table.exportCsv}</DownloadLink>
  if (!csvName || sorted.length === 0) return null
  const exported = columns.flatMap(({ title, csv }) => (csv ? [{ title, csv }] : []))
  const save = () =>
    saveCsv(
      csvName,
      csvText(
        exported.map(({ title }) => title),
        sorted.map((row) => exported.map(({ csv }) => csv(row))),
      ),
    )
  return (
    <Button size="small" kind="quiet" icon="download" onClick={save}>
      {messages.table.exportCsv}
    </Button>
  )
}

/** Each column in both directions, for screens without headings. */
function orderChoices<T>(columns: Column<T>[]): { value: string; name: string }[] {
  const sortable = columns.filter(({ sort }) => sort !== undefined)
  return [
    { value: '', name: messages.table.defaultOrder },
    ...sortable.flatMap(({ key, title, descendsFirst }) => {
      const ascending = { value: key, name: messages.table.ascending(title) }
      const descending = { value: `-${key}`, name: messages.table.descending(title) }
      return descendsFirst ? [descending, ascending] : [ascending, descending]
    }),
  ]
}

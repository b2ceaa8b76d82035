import { Icon } from '../brand/icons.tsx'
import { nextSorting, type Column, type Sorting } from './column.ts'
import classes from './data-table.module.css'

type SortHeadingProps<T> = {
  column: Column<T>
  sorting: Sorting | null
  onSort: ((sorting: Sorting | null) => void) | undefined
}

/** A column heading; a button where the table can be sorted by the column. */
export function SortHeading<T>({ column, sorting, onSort }: SortHeadingProps<T>) {
  const { key, title, align, short } = column
  const isSorted = sorting?.key === key && onSort !== undefined
  return (
    <th
      scope="col"
      data-align={align}
      data-short={short}
      aria-sort={isSorted ? (sorting.descending ? 'descending' : 'ascending') : undefined}
    >
      {onSort ? (
        <button
          type="button"
          className={classes.sort}
          onClick={() => onSort(nextSorting(column, sorting))}
        >
          {title}
          <span className={classes.arrow} data-shown={isSorted}>
            <Icon name={isSorted && sorting.descending ? 'down' : 'up'} size={14} />
          </span>
        </button>
      ) : (
        title
      )}
    </th>
  )
}

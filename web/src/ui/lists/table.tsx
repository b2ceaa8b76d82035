import type { ReactNode } from 'react'
import classes from './table.module.css'

type TableProps = {
  caption: string
  /** Hides the caption visually, where the heading above says the same. */
  quiet?: boolean
  columns: readonly string[]
  /** Columns of one width, so that tables below each other align. */
  even?: boolean
  children: ReactNode
}

/** Rows of the same kind; on a phone each is a paragraph, never a strip to push sideways. */
export function Table({ caption, quiet = false, even = false, columns, children }: TableProps) {
  return (
    <table className={classes.table} data-quiet={quiet} data-even={even}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody data-rows>{children}</tbody>
    </table>
  )
}

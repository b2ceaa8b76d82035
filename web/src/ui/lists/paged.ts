import { showToast } from '../../toasts.ts'
import { messages } from '../messages.ts'
import type { PaginationProps } from '../navigation/pagination.tsx'

/** The page of a list that the service sorts, filters and divides into pages. */
export type Paged<T> = PaginationProps & {
  /** Rows on all pages. */
  total: number
  /** Keys of the columns that the service sorts by. */
  sorts: readonly string[]
  /** Loads a page of up to `CSV_PAGE_ROWS` rows in the current order, for the CSV file. */
  loadPage: (page: number) => Promise<T[]>
}

export const CSV_PAGE_ROWS = 100
/** Requests of a CSV file. */
const MAX_CSV_PAGES = 100

/** Loads the rows of all pages, up to 10,000; a message says when there are more. */
export async function loadRows<T>({ total, loadPage }: Paged<T>): Promise<T[]> {
  const pages = Math.min(Math.ceil(total / CSV_PAGE_ROWS), MAX_CSV_PAGES)
  const rows: T[] = []
  for (let page = 1; page <= pages; page++) rows.push(...(await loadPage(page)))
  if (rows.length < total) showToast({ text: messages.table.exportedSome(rows.length, total) })
  return rows
}

import type { ReactNode } from 'react'
import type { CsvValue } from './csv.ts'

/** A value by which rows are sorted; null and the empty string come last in either direction. */
type SortValue = string | number | null

/** A column of a data table; the first one is the header of its row. */
export type Column<T> = {
  /** Its name in the URL, such as `sort=-messages`. */
  key: string
  title: string
  /** Without it, the column is in the CSV file only. */
  cell?: (row: T) => ReactNode
  /** Makes the column sortable. */
  sort?: (row: T) => SortValue
  /** Largest or newest first at the first click. */
  descendsFirst?: boolean
  /** Its value in the CSV file, and for the filter. Without it, the column is not exported. */
  csv?: (row: T) => CsvValue
  /** Numbers align at the end. */
  align?: 'end'
  /** Its short values are not wrapped on a wide screen. */
  short?: boolean
  /** On a phone, where columns have no headings, the title comes before the cell. */
  labelled?: boolean
}

/** The column that rows are sorted by, and its direction. */
export type Sorting = { key: string; descending: boolean }

let collator: Intl.Collator | null = null

/** Creates the collator on first use: it takes a phone 40 ms, and most screens sort nothing. */
function compareTexts(one: string, other: string): number {
  collator ??= new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
  return collator.compare(one, other)
}

/** Sorts rows by a column; rows of equal value stay in their order. Unknown columns change nothing. */
export function sortRows<T>(rows: T[], columns: Column<T>[], sorting: Sorting | null): T[] {
  const valueOf = columns.find(({ key }) => key === sorting?.key)?.sort
  if (!sorting || !valueOf) return rows
  const sign = sorting.descending ? -1 : 1
  return rows.toSorted((one, other) => compare(valueOf(one), valueOf(other), sign))
}

function compare(one: SortValue, other: SortValue, sign: 1 | -1): number {
  const isEmpty = (value: SortValue) => value === null || value === ''
  if (isEmpty(one) || isEmpty(other)) return Number(isEmpty(one)) - Number(isEmpty(other))
  const order =
    typeof one === 'number' && typeof other === 'number'
      ? one - other
      : compareTexts(String(one), String(other))
  return sign * order
}

/** Rows with all words of the filter in any exported column. */
export function filterRows<T>(rows: T[], columns: Column<T>[], filter: string): T[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  return rows.filter((row) => {
    const text = columns
      .map(({ csv }) => csv?.(row) ?? '')
      .join('\n')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Reads `name` or `-name`. */
export function parseSorting(text: string | undefined): Sorting | null {
  if (!text) return null
  return text.startsWith('-')
    ? { key: text.slice(1), descending: true }
    : { key: text, descending: false }
}

/** The sorting after a click on a heading: the first direction, the other one, the original order. */
export function nextSorting<T>(
  { key, descendsFirst = false }: Column<T>,
  now: Sorting | null,
): Sorting | null {
  if (now?.key !== key) return { key, descending: descendsFirst }
  return now.descending === descendsFirst ? { key, descending: !descendsFirst } : null
}

/** `name` or `-name`, for the URL. */
export function sortingText(sorting: Sorting | null): string | undefined {
  return sorting ? `${sorting.descending ? '-' : ''}${sorting.key}` : undefined
}

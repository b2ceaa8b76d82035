/** Query parameters of a URL, not validated. */
export type Search = Record<string, unknown>

/** A search such as `?q=404` is read as a number. */
export function searchText(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return typeof value === 'number' ? String(value) : undefined
}

/** The page of a long list, from the second on. */
export function pageOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) > 1 ? (value as number) : undefined
}

/** A UTC day such as `2026-11-21`. */
export function dayOf(value: unknown): string | undefined {
  const isDay = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)
  return isDay && !Number.isNaN(Date.parse(value)) ? value : undefined
}

/** Builds the query string of a request from the given fields. */
export function searchOf(fields: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
}

export function oneOf<const T extends string | number>(
  value: unknown,
  choices: readonly T[],
): T | undefined {
  return choices.find((choice) => choice === value)
}

/** The `sort` parameter of a page as that of the API; undefined for a column the API cannot sort by. */
export function orderOf<const K extends string>(
  sort: string | undefined,
  columns: readonly K[],
): K | `-${K}` | undefined {
  const column = oneOf(sort?.replace(/^-/, ''), columns)
  return column && (sort?.startsWith('-') ? `-${column}` : column)
}

/** Sorting and filter of a data table: `?sort=-status&q=mail`. */
export type TableSearch = { sort?: string | undefined; q?: string | undefined }

export function tableSearch({ sort, q }: Search): TableSearch {
  return { sort: searchText(sort), q: searchText(q) }
}

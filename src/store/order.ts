import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** The property that a list is ordered by; with `-` in front, in descending order. */
export type Order<K extends string> = K | `-${K}`

/**
 * Orders a list by one of its columns. Add a unique column after it, so that pages neither repeat
 * nor skip rows.
 */
export function orderTerm<K extends string>(
  order: Order<K>,
  columns: Record<K, RawBuilder<unknown>>,
): RawBuilder<unknown> {
  const isDescending = order.startsWith('-')
  const column = columns[(isDescending ? order.slice(1) : order) as K]
  return isDescending ? sql`${column} desc` : sql`${column} asc`
}

/** Whether a text contains each word of a search, in any order and case. True without words. */
export function containsWords(search: string, text: RawBuilder<unknown>): RawBuilder<SqlBool> {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return sql`(select coalesce(bool_and(position(word in lower(${text})) > 0), true)
    from unnest(${words}::text[]) word)`
}

/** The first rows of a list, and how many there are in total. */
export type Bounded<T> = { rows: T[]; total: number }

/** A time span: from (inclusive) to (exclusive). */
export type Period = { from: Date; to: Date }

/**
 * Separates the total from the rows of a query that selects `count(*) over () as total` and has a
 * limit.
 */
export function boundedOf<T>(rows: (T & { total: number })[]): Bounded<T> {
  return {
    rows: rows.map(({ total: _total, ...row }) => row as unknown as T),
    total: rows[0]?.total ?? 0,
  }
}

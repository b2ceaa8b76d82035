import { sql, type RawBuilder } from 'kysely'
import { futureTimestamps, type FutureTimestamp } from './clock.ts'

/**
 * Rows of a table that become due, and the work that is due with them. Accounts take turns, the rows
 * of a deleted workspace wait for its restore, and a row is claimed by one sender, check or job at
 * a time: all of that is written here and nowhere else (`test/layers.test.ts`). In SQL, a row is `r`.
 */
export type DueRows = {
  /** The table, or a query of the statement (`with`) whose rows are only listed. */
  table: string
  /** The column that identifies a row; `id` by default. */
  key?: string
  /** The column with the time at which a row is due. */
  dueAt: string
  /**
   * The column with the end of a claim, after which the row can be claimed again; `dueAt` itself
   * where a claim moves it. Without one, the rows are held by a transaction, or by a job of which
   * one runs at a time.
   */
  claimedUntil?: string
  leaseSeconds?: number
  /** The column that counts the claims, so that what an earlier one still writes can be rejected. */
  claims?: string
  /** Further tables, joined to `r`. */
  join?: RawBuilder<unknown>
  /** The column with the workspace, by default `r.workspace_id`; null for rows of the installation. */
  workspace?: string | null
  /** Further conditions of a row that is due. */
  where?: RawBuilder<unknown>
  /** The order of the rows of an account, by default the longest due first. */
  order?: RawBuilder<unknown>
  /**
   * Whose turn it is, smallest first, where the accounts do not simply take turns; `w` is the
   * workspace. Null where all that is due is claimed at once.
   */
  turn?: RawBuilder<unknown> | null
}

export type DueOptions = {
  /** The present time of the clock that the rows are compared with; without it, the database’s. */
  now?: Date | RawBuilder<Date>
  /** In place of the comparison with `dueAt`: which rows are due. */
  isDue?: RawBuilder<unknown>
  where?: RawBuilder<unknown>
  /** Accounts that have enough work. */
  except?: readonly string[]
  limit?: number
}

/**
 * Selects due rows, one of each account in turn, those that have waited longest first. Without a
 * limit, their order is left to the query around it.
 * @param columns of `r`, by default the key; `turn` and `responsible_id`, the account that answers
 *   for the workspace, can be selected, too
 */
export function dueInTurn<Row>(
  rows: DueRows,
  options: DueOptions,
  columns: readonly string[] = [keyOf(rows)],
): RawBuilder<Row> {
  const own = new Set([...columns, rows.dueAt, keyOf(rows)]).difference(TURN)
  const order = sql`${refOf(rows.dueAt)} nulls first, ${refOf(keyOf(rows))}`
  return sql<Row>`select ${sql.join(columns.map((column) => sql.ref(column)))} from (
      select ${columnsOf([...own])}, w.responsible_id,
        row_number() over (partition by w.responsible_id order by ${rows.order ?? order}) as turn
      from ${dueFrom(rows, options)}) as r
    ${options.limit === undefined ? sql`` : sql`order by turn, ${order} limit ${options.limit}`}`
}

/** What the selected rows have besides their own columns. */
const TURN = new Set(['turn', 'responsible_id'])

/** Columns of `r`, or expressions. */
type Columns = readonly string[] | RawBuilder<unknown>

/** Selects due rows and locks them until the transaction ends, without those that are locked. */
export function lockDueRows<Row>(
  rows: DueRows,
  options: DueOptions,
  columns: Columns = [keyOf(rows)],
): RawBuilder<Row> {
  const turn = rows.turn ? sql`${rows.turn} nulls first, ` : sql``
  return sql<Row>`select ${columnsOf(columns)} from ${dueFrom(rows, options)}
    order by ${turn}${refOf(rows.dueAt)} ${limitOf(options)} for no key update of r skip locked`
}

export type ClaimOptions = DueOptions & {
  leaseSeconds?: number
  /** Claims only these, in place of those whose turn it is: a query of keys. */
  among?: RawBuilder<unknown>
  /** Further columns that a claim sets. */
  set?: RawBuilder<unknown>
}

/** Claims due rows until their lease ends, without those that another claim has locked. */
export function claimDueRows<Row>(
  rows: DueRows,
  { among, set, leaseSeconds, ...options }: ClaimOptions,
  columns: Columns = [keyOf(rows)],
): RawBuilder<Row> {
  const { now } = options
  const key = refOf(keyOf(rows))
  const chosen =
    among ??
    (rows.turn === undefined && rows.workspace !== null ? dueInTurn(rows, options) : undefined)
  // A window function cannot lock rows: the chosen ones are compared again when they are locked.
  const locked = chosen
    ? sql`select ${key} from ${sql.table(rows.table)} as r where ${key} = any(array(${chosen}))
        and ${isDueNow(rows, options)} and ${isFree(rows, now)} for no key update skip locked`
    : lockDueRows(rows, options)
  // As an array, because a plan can run a query in “in (…)” again for each row, and lock more rows.
  const isLocked = sql`${key} = any(array(${locked}))`
  return claimWhere(rows, { now, set, leaseSeconds }, isLocked, columns)
}

/** Claims the rows `r` of a condition, due or not. */
export function claimWhere<Row>(
  rows: DueRows,
  { now, set, ...options }: Pick<ClaimOptions, 'now' | 'set' | 'leaseSeconds'>,
  where: RawBuilder<unknown>,
  columns: Columns = [keyOf(rows)],
): RawBuilder<Row> {
  const { claims, claimedUntil = rows.dueAt } = rows
  const { leaseSeconds = rows.leaseSeconds } = options
  const changes = [
    ...(set ? [set] : []),
    ...(claims ? [sql`${sql.ref(claims)} = ${refOf(claims)} + 1`] : []),
    ...(leaseSeconds === undefined
      ? []
      : [sql`${sql.ref(claimedUntil)} = ${timeOf(now)} + make_interval(secs => ${leaseSeconds})`]),
  ]
  return sql<Row>`update ${sql.table(rows.table)} as r set ${sql.join(changes)} where ${where}
    returning ${columnsOf(columns)}`
}

/** Whether no claim has the row `r`, or its lease is over. */
export function isFree(
  { claimedUntil, dueAt }: DueRows,
  now?: DueOptions['now'],
): RawBuilder<boolean> {
  if (claimedUntil === undefined || claimedUntil === dueAt) return sql<boolean>`true`
  return sql<boolean>`coalesce(${refOf(claimedUntil)}, '-infinity') < ${timeOf(now)}`
}

/** The future timestamps of these rows. @param aheadSeconds of `dueAt`, where it is one of them */
export function futureTimestampsOf(
  { table, dueAt, claimedUntil = dueAt, leaseSeconds = 0 }: DueRows,
  { clock, aheadSeconds }: Pick<FutureTimestamp, 'clock'> & { aheadSeconds?: number },
): FutureTimestamp[] {
  const due = aheadSeconds === undefined ? [] : [[table, dueAt, aheadSeconds] as const]
  const lease = claimedUntil === dueAt ? [] : [[table, claimedUntil, leaseSeconds] as const]
  return futureTimestamps(clock, [...due, ...lease])
}

function dueFrom(rows: DueRows, options: DueOptions): RawBuilder<unknown> {
  const { workspace = 'r.workspace_id', join = sql``, where = sql`true` } = rows
  const isLive =
    workspace === null
      ? sql``
      : sql`join workspace w on w.id = ${sql.ref(workspace)} and w.delete_after is null`
  const except = options.except
    ? sql`and w.responsible_id <> all(${options.except}::uuid[])`
    : sql``
  return sql`${sql.table(rows.table)} as r ${join} ${isLive}
    where ${isDueNow(rows, options)} and ${isFree(rows, options.now)} and ${where}
      and ${options.where ?? sql`true`} ${except}`
}

function isDueNow({ dueAt }: DueRows, { isDue, now }: DueOptions): RawBuilder<unknown> {
  return isDue ?? sql`${refOf(dueAt)} <= ${timeOf(now)}`
}

export function timeOf(now: DueOptions['now'] = sql<Date>`now()`): RawBuilder<Date> {
  return now instanceof Date ? sql<Date>`${now}::timestamptz` : now
}

function keyOf({ key = 'id' }: DueRows): string {
  return key
}

function limitOf({ limit }: DueOptions): RawBuilder<unknown> {
  return limit === undefined ? sql`` : sql`limit ${limit}`
}

function columnsOf(columns: Columns): RawBuilder<unknown> {
  return 'toOperationNode' in columns ? columns : sql.join(columns.map(refOf))
}

function refOf(column: string): RawBuilder<unknown> {
  return sql.ref(`r.${column}`)
}

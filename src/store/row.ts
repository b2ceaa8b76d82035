import type { ExpressionBuilder, Kysely, SelectExpression, Selection, SelectType } from 'kysely'
import type { Db } from './database.ts'
import type { DB } from './tables.ts'

/**
 * A row with these columns of a table, or of tables that are joined: names, `name as other`, and
 * computed columns. The database knows texts and JSON where the product knows more: `Known` says
 * what such columns hold.
 */
export type Row<
  Table extends keyof DB,
  Columns extends readonly SelectExpression<DB, Table>[],
  Known extends object = object,
> = Omit<Selection<DB, Table, Columns[number]>, keyof Known> & Known

/** Columns and their values; null finds rows without a value. */
type Values<Table extends keyof DB, Column extends keyof DB[Table]> = {
  [C in Column]: SelectType<DB[Table][C]>
}

type AnyTable = Record<string, Record<string, unknown>>

const ofAnyTable = (db: Db) => db as unknown as Kysely<AnyTable>

// Not as an object of Kysely, which leaves out what is undefined: it would find more rows.
const equals = (values: object) => (eb: ExpressionBuilder<AnyTable, string>) =>
  eb.and(
    Object.entries(values).map(([column, value]) => eb(column, value === null ? 'is' : '=', value)),
  )

/**
 * Finds the row with these values. Its type is the one that the caller expects, as in `sql<Row>`, or
 * that of the columns.
 */
export async function findRow<
  Table extends keyof DB,
  const Columns extends readonly SelectExpression<DB, Table>[],
  Column extends keyof DB[Table],
  Found = Selection<DB, Table, Columns[number]>,
>(
  db: Db,
  table: Table,
  columns: Columns,
  values: Values<Table, Column>,
): Promise<Found | undefined> {
  return rowsWith(db, table, columns, values).executeTakeFirst() as Promise<Found | undefined>
}

/** Finds a row like `findRow`, and locks it until the transaction ends. */
export async function lockRow<
  Table extends keyof DB,
  const Columns extends readonly SelectExpression<DB, Table>[],
  Column extends keyof DB[Table],
  Found = Selection<DB, Table, Columns[number]>,
>(
  db: Db,
  table: Table,
  columns: Columns,
  values: Values<Table, Column>,
): Promise<Found | undefined> {
  const rows = rowsWith(db, table, columns, values).forUpdate()
  return rows.executeTakeFirst() as Promise<Found | undefined>
}

/** Whether there is a row with these values. */
export async function hasRow<Table extends keyof DB, Column extends keyof DB[Table]>(
  db: Db,
  table: Table,
  values: Values<Table, Column>,
): Promise<boolean> {
  const row = await rowsWith(db, table, Object.keys(values).slice(0, 1), values).limit(1).execute()
  return row.length > 0
}

function rowsWith(db: Db, table: string, columns: readonly unknown[], values: object) {
  return ofAnyTable(db)
    .selectFrom(table)
    .select(columns as readonly string[])
    .where(equals(values))
}

export async function countRows<Table extends keyof DB, Column extends keyof DB[Table]>(
  db: Db,
  table: Table,
  values: Values<Table, Column>,
): Promise<number> {
  const { count } = await ofAnyTable(db)
    .selectFrom(table as string)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(equals(values))
    .executeTakeFirstOrThrow()
  return count
}

type WorkspaceTable = {
  [Table in keyof DB]: 'workspaceId' extends keyof DB[Table] ? Table : never
}[keyof DB]

/** Counts the rows of a workspace, and locks it, so that none is added until the transaction ends. */
export async function lockAndCountRows(
  db: Db,
  table: WorkspaceTable,
  workspaceId: string,
): Promise<number> {
  await lockRow(db, 'workspace', ['id'], { id: workspaceId })
  return countRows(db, table, { workspaceId })
}

/** Deletes the rows with these values; false where there were none. */
export async function deleteRows<Table extends keyof DB, Column extends keyof DB[Table]>(
  db: Db,
  table: Table,
  values: Values<Table, Column>,
): Promise<boolean> {
  const { numDeletedRows } = await ofAnyTable(db)
    .deleteFrom(table as string)
    .where(equals(values))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

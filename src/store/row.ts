import type {
  ExpressionBuilder,
  InsertObject,
  Kysely,
  SelectExpression,
  Selection,
  SelectType,
  UpdateObject,
} from 'kysely'
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
 * Finds the row with these values. Its type is that of the columns, or one that the caller expects
 * and that says more of their texts and JSON.
 */
export async function findRow<
  Table extends keyof DB,
  const Columns extends readonly SelectExpression<DB, Table>[],
  Column extends keyof DB[Table],
  Found extends Selection<DB, Table, Columns[number]> = Selection<DB, Table, Columns[number]>,
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
  Found extends Selection<DB, Table, Columns[number]> = Selection<DB, Table, Columns[number]>,
>(
  db: Db,
  table: Table,
  columns: Columns,
  values: Values<Table, Column>,
): Promise<Found | undefined> {
  const rows = rowsWith(db, table, columns, values).forUpdate()
  return rows.executeTakeFirst() as Promise<Found | undefined>
}

/** Lists the rows with these values, in the order of a column. Their type is that of `findRow`. */
export async function listRows<
  Table extends keyof DB,
  const Columns extends readonly SelectExpression<DB, Table>[],
  Column extends keyof DB[Table],
  Found extends Selection<DB, Table, Columns[number]> = Selection<DB, Table, Columns[number]>,
>(
  db: Db,
  table: Table,
  columns: Columns,
  values: Values<Table, Column>,
  orderBy?: keyof DB[Table] & string,
): Promise<Found[]> {
  const rows = rowsWith(db, table, columns, values)
  const ordered = orderBy === undefined ? rows : rows.orderBy(orderBy)
  return ordered.execute() as Promise<Found[]>
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

/** Inserts a row, and returns these columns of it. Their type is that of `findRow`. */
export async function insertRow<
  Table extends keyof DB,
  const Columns extends readonly SelectExpression<DB, Table>[],
  Inserted extends Selection<DB, Table, Columns[number]> = Selection<DB, Table, Columns[number]>,
>(db: Db, table: Table, row: InsertObject<DB, Table>, columns: Columns): Promise<Inserted> {
  return ofAnyTable(db)
    .insertInto(table as string)
    .values(row as InsertObject<AnyTable, string>)
    .returning(columns as unknown as readonly string[])
    .executeTakeFirstOrThrow() as unknown as Promise<Inserted>
}

/** Changes the rows with these values; false where there were none. */
export async function updateRows<Table extends keyof DB, Column extends keyof DB[Table]>(
  db: Db,
  table: Table,
  values: Values<Table, Column>,
  changes: UpdateObject<DB, Table>,
): Promise<boolean> {
  const { numUpdatedRows } = await ofAnyTable(db)
    .updateTable(table as string)
    .set(changes as UpdateObject<AnyTable, string>)
    .where(equals(values))
    .executeTakeFirst()
  return numUpdatedRows > 0n
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

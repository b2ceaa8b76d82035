import type { Selectable } from 'kysely'
import type { DB } from './tables.ts'

/**
 * A row with these columns of a table. The database knows texts and JSON where the product knows
 * more: `Known` says what such columns hold.
 */
export type Row<
  Table extends keyof DB,
  Columns extends readonly (keyof DB[Table])[],
  Known extends object = object,
> = Omit<Selectable<Pick<DB[Table], Columns[number]>>, keyof Known> & Known

import { Muted } from '../layout/page.tsx'
import { Ago } from '../text/ago.tsx'
import type { Column } from './column.ts'

/** How long ago a time of the row is, in a column; in the CSV file, the time itself. */
export function agoCell<Name extends string>(
  name: Name,
): Pick<Column<Record<Name, string>>, 'cell' | 'csv'> {
  return {
    cell: ({ [name]: at }) => (
      <Muted>
        <Ago at={at} />
      </Muted>
    ),
    csv: ({ [name]: at }) => at,
  }
}

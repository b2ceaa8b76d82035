import { Table } from '../ui/lists/table.tsx'
import type { Migration } from './api.ts'
import { errorTable, migration as titles, noteTable } from './messages.ts'

/** Messages that were copied with a change, such as another date. */
export function NoteTable({ notes }: { notes: Migration['progress']['notes'] }) {
  return (
    <Table caption={titles.notes} quiet columns={[...noteTable.columns]}>
      {notes.map(({ folder, uid, message }, index) => (
        <tr key={index}>
          <th scope="row">
            {folder || errorTable.whole}
            {uid !== undefined && <small>{errorTable.message(uid)}</small>}
          </th>
          <td>{message}</td>
        </tr>
      ))}
    </Table>
  )
}

import { Table } from '../ui/lists/table.tsx'
import type { Migration } from './api.ts'

/** What was copied, but could not be kept exactly as it was. */
export function NoteTable({ notes }: { notes: Migration['progress']['notes'] }) {
  return (
    <Table caption="Not kept exactly as it was" quiet columns={['Where', 'What']}>
      {notes.map(({ folder, uid, message }, index) => (
        <tr key={index}>
          <th scope="row">
            {folder || 'The whole migration'}
            {uid !== undefined && <small>message {uid}</small>}
          </th>
          <td>{message}</td>
        </tr>
      ))}
    </Table>
  )
}

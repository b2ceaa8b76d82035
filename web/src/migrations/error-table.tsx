import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { counted, numberText, sizeText } from '../ui/text/format.ts'
import type { Migration } from './api.ts'

/** Rows at once; a mailbox can fail a thousand times in the same way. */
const SOME = 50

type ErrorTableProps = { errors: Migration['progress']['errors']; count: number }

/** Message by message, what could not be copied and why. */
export function ErrorTable({ errors, count }: ErrorTableProps) {
  const [shown, setShown] = useState(SOME)
  return (
    <>
      <Table caption="What failed" quiet columns={['Where', 'Why', 'Tried']}>
        {errors.slice(0, shown).map(({ folder, uid, messageId, size, message, attempts }, index) => (
          <tr key={index}>
            <th scope="row">
              {folder || 'The whole migration'}
              <small>
                {[uid !== undefined && `message ${uid}`, messageId, size !== undefined && sizeText(size)]
                  .filter(Boolean)
                  .join(' · ')}
              </small>
            </th>
            <td>{message}</td>
            <td>
              <Muted>{attempts > 0 && counted(attempts, 'time')}</Muted>
            </td>
          </tr>
        ))}
      </Table>
      {errors.length > shown && (
        <div>
          <Button size="small" onClick={() => setShown(shown + 4 * SOME)}>
            Show more
          </Button>
        </div>
      )}
      {count > errors.length && (
        <Muted>
          There are {numberText(count)}; the first {numberText(errors.length)} are kept by name.
        </Muted>
      )}
    </>
  )
}

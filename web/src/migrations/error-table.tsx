import { useState } from 'react'
import { Button } from '../ui/actions/button.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { sizeText } from '../ui/text/format.ts'
import type { Migration } from './api.ts'
import { errorTable as messages, migration as titles } from './messages.ts'

/** Rows shown first: a mailbox can have a thousand errors of one kind. */
const FIRST_ROWS = 50

type ErrorTableProps = { errors: Migration['progress']['errors']; count: number }

/** Errors by message. */
export function ErrorTable({ errors, count }: ErrorTableProps) {
  const [shown, setShown] = useState(FIRST_ROWS)
  return (
    <>
      <Table caption={titles.errors} quiet columns={[...messages.columns]}>
        {errors
          .slice(0, shown)
          .map(({ folder, uid, messageId, size, message, attempts }, index) => (
            <tr key={index}>
              <th scope="row">
                {folder || messages.whole}
                <small>
                  {[
                    uid !== undefined && messages.message(uid),
                    messageId,
                    size !== undefined && sizeText(size),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </small>
              </th>
              <td>{message}</td>
              <td>
                <Muted>{attempts > 0 && messages.attempts(attempts)}</Muted>
              </td>
            </tr>
          ))}
      </Table>
      {errors.length > shown && (
        <div>
          <Button size="small" onClick={() => setShown(shown + 4 * FIRST_ROWS)}>
            {messages.more}
          </Button>
        </div>
      )}
      {count > errors.length && <Muted>{messages.total(count, errors.length)}</Muted>}
    </>
  )
}

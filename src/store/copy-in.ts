import type { Connection, Pool, Submittable } from 'pg'
import { newPage, writeRows, type Column, type Page } from './binary-copy.ts'

/**
 * Pages that wait to be written anew, and how long they may be: memory that is taken and given back
 * costs more than copying.
 */
const MAX_SPARE_PAGES = 4
const SPARE_BYTES = 1024 * 1024

const COPY_DATA = 'd'.charCodeAt(0)
const COPY_DONE = Buffer.from('c\0\0\0\u0004')

type Options<R> = {
  table: string
  columns: Column<R>[]
  /** Milliseconds for all of it. */
  deadline: number
}

/**
 * What copies rows into a table, in one transaction with a statement before it, in one round trip:
 * it begins to send them while the statement is still to be done.
 * @returns the rows of that statement, each value as its text; throws when nothing was copied, as
 *   far as it is known
 */
export function createCopyIn<R>(pool: Pool, { table, columns, deadline }: Options<R>) {
  const copy = `copy ${table} (${columns.map(([name]) => name).join(', ')}) from stdin (format binary)`
  const spare: Page[] = []

  return async (statement: string, rows: R[]): Promise<string[][]> => {
    const page = spare.pop() ?? newPage()
    const bytes = writeRows(page, columns, rows)
    const giveBack = () => {
      if (spare.length < MAX_SPARE_PAGES && page.bytes.length <= SPARE_BYTES) spare.push(page)
    }
    // What @types/pg does not know: the pool gives the query its callback, and a promise of what
    // that is called with.
    return pool.query(
      copyIn(`${statement}; ${copy}`, bytes, giveBack, deadline),
    ) as unknown as Promise<string[][]>
  }
}

/** A query that pg lets somebody else speak: PostgreSQL's protocol, “COPY Operations”. */
type Spoken = Submittable & {
  query_timeout: number
  callback?: (error: Error | null, rows?: string[][]) => void
  handleRowDescription(): void
  handleDataRow(message: { fields: string[] }): void
  handleCommandComplete(): void
  handleCopyInResponse(): void
  handleError(error: Error): void
  handleReadyForQuery(): void
}

/**
 * What is sent before the server asks for it, it reads when it gets there, or passes over when it
 * does not.
 */
function copyIn(text: string, bytes: Buffer, onSent: () => void, deadline: number): Spoken {
  const rows: string[][] = []
  return {
    query_timeout: deadline,
    submit(connection: Connection) {
      const { stream } = connection
      stream.cork()
      connection.query(text)
      stream.write(headOf(bytes))
      stream.write(bytes, onSent)
      stream.write(COPY_DONE)
      stream.uncork()
    },
    handleRowDescription() {},
    handleDataRow: ({ fields }) => void rows.push(fields),
    handleCommandComplete() {},
    handleCopyInResponse() {},
    handleError(error) {
      this.callback?.(error)
    },
    handleReadyForQuery() {
      this.callback?.(null, rows)
    },
  }
}

function headOf(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5, COPY_DATA)
  head.writeInt32BE(bytes.length + 4, 1)
  return head
}

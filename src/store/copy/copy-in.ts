import type { Connection, Pool, Submittable } from 'pg'
import { newPage, writeRows, type Column, type CopyPage } from './binary-copy.ts'

/**
 * Unused pages kept for the next copy, and their maximum size. Allocating and freeing memory costs
 * more than copying.
 */
const MAX_SPARE_PAGES = 4
const SPARE_BYTES = 1024 * 1024

const COPY_DATA = 'd'.charCodeAt(0)
const COPY_DONE = Buffer.from('c\0\0\0\u0004')

type Options<R> = {
  table: string
  columns: Column<R>[]
  /** Milliseconds for statement and copy together. */
  deadline: number
}

/**
 * Creates a function that runs a statement and copies rows into a table, in one transaction and one
 * round trip: rows are sent while the statement is still running. A statement `after` sees the rows.
 * @returns the rows of the statement, each value as text; throws when nothing was copied, as far as
 *   is known
 */
export function createCopyIn<R>(pool: Pool, { table, columns, deadline }: Options<R>) {
  const copy = `copy ${table} (${columns.map(([name]) => name).join(', ')}) from stdin (format binary)`
  const spare: CopyPage[] = []

  return async (statement: string, rows: R[], after = ''): Promise<string[][]> => {
    const page = spare.pop() ?? newPage()
    const bytes = writeRows(page, columns, rows)
    const giveBack = () => {
      if (spare.length < MAX_SPARE_PAGES && page.bytes.length <= SPARE_BYTES) spare.push(page)
    }
    // Missing in @types/pg: the pool gives the query its callback, and a promise of the callback’s
    // argument.
    return pool.query(
      copyIn(`${statement}; ${copy}${after && `; ${after}`}`, bytes, giveBack, deadline),
    ) as unknown as Promise<string[][]>
  }
}

/** A query that implements the protocol itself (PostgreSQL’s manual, “COPY Operations”). */
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

/** The server reads data that arrives before it is ready, or discards it when it is not. */
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

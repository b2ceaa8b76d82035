import type { Client, Connection, Submittable } from 'pg'

/** Properties of a connection that @types/pg lacks. */
type Wire = Connection & {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** A query that implements the protocol itself (PostgreSQL’s manual, “COPY Operations”). */
type Spoken = Submittable & {
  handleCommandComplete(): void
  handleCopyInResponse(wire: Wire): void
  handleCopyData(message: { chunk: Buffer }, wire: Wire): void
  handleReadyForQuery(): void
  handleError(error: Error): void
}

/** PostgreSQL sends one message per row. Rows are forwarded in chunks of this size. */
const CHUNK_BYTES = 64 * 1024

/**
 * Streams rows from one server to another.
 * @param source `copy … to stdout`
 * @param target `copy … from stdin`
 * @param onBytes called with the number of bytes forwarded
 */
export async function copyRows(
  { from, source }: { from: Client; source: string },
  { to, target }: { to: Client; target: string },
  onBytes: (bytes: number) => void,
): Promise<void> {
  const taking = startTaking(to, target)
  const wire = await Promise.race([
    taking.wire,
    taking.done.then(() => Promise.reject(new Error('no rows taken'))),
  ])
  try {
    await give(from, source, wire, onBytes)
    wire.endCopyFrom()
  } catch (error) {
    wire.sendCopyFail('the source failed')
    await taking.done.catch(() => {})
    throw error
  }
  await taking.done
}

/** `wire` resolves when the server is ready for rows, and `done` when it has stored them. */
function startTaking(to: Client, statement: string): { wire: Promise<Wire>; done: Promise<void> } {
  const wire = Promise.withResolvers<Wire>()
  const done = speak(to, statement, { handleCopyInResponse: wire.resolve })
  done.catch(wire.reject)
  return { wire: wire.promise, done }
}

function give(
  from: Client,
  statement: string,
  to: Wire,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const batch = Buffer.allocUnsafe(CHUNK_BYTES)
  let used = 0
  function flush(source?: Wire): void {
    if (used > 0) to.sendCopyFromChunk(batch.subarray(0, used))
    onBytes(used)
    used = 0
    // A target slower than the source would fill memory with the whole table.
    if (source && to.stream.writableNeedDrain) {
      source.stream.pause()
      to.stream.once('drain', () => source.stream.resume())
    }
  }
  return speak(from, statement, {
    handleCopyData({ chunk }, source) {
      if (used + chunk.length > CHUNK_BYTES) flush(source)
      if (chunk.length > CHUNK_BYTES) to.sendCopyFromChunk(chunk)
      // The next message may overwrite the chunk’s buffer.
      else used += chunk.copy(batch, used)
    },
    handleReadyForQuery: flush,
  })
}

function speak(client: Client, statement: string, turns: Partial<Spoken>): Promise<void> {
  return new Promise((resolve, reject) => {
    const spoken: Spoken = {
      submit: (wire) => wire.query(statement),
      handleCommandComplete: () => {},
      handleCopyInResponse: (wire) => wire.sendCopyFail('none expected'),
      handleCopyData: () => {},
      handleError: reject,
      ...turns,
      handleReadyForQuery() {
        turns.handleReadyForQuery?.()
        resolve()
      },
    }
    client.query(spoken)
  })
}

/** When a batch is full. Whatever streams or is larger than `bytes` goes alone. */
export type BatchLimits = { messages: number; bytes: number }

type Sized = { size: number; body: Buffer | AsyncIterable<Buffer> }

/**
 * Gathers messages into batches in their order.
 * @param limits read again for every batch, so that they may follow what the server can bear
 */
export async function* groupIntoBatches<T extends Sized>(
  messages: AsyncIterable<T>,
  limits: BatchLimits,
): AsyncGenerator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for await (const message of messages) {
    const isAlone = !Buffer.isBuffer(message.body)
    if (batch.length > 0 && (isAlone || batch.length >= limits.messages || bytes + message.size > limits.bytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    if (isAlone) yield [message]
    else {
      batch.push(message)
      bytes += message.size
    }
  }
  if (batch.length > 0) yield batch
}

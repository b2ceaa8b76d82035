/**
 * The size of a full batch. A streamed message, or one larger than `bytes`, gets a batch of its
 * own.
 */
export type BatchLimits = { messages: number; bytes: number }

type Sized = { size: number; body: Buffer | AsyncIterable<Buffer> }

/**
 * Groups messages into batches in their order.
 * @param limits read again for every batch, so that they can follow the server’s capacity
 */
export async function* groupIntoBatches<T extends Sized>(
  messages: AsyncIterable<T>,
  limits: BatchLimits,
): AsyncGenerator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for await (const message of messages) {
    const isAlone = !Buffer.isBuffer(message.body)
    if (
      batch.length > 0 &&
      (isAlone || batch.length >= limits.messages || bytes + message.size > limits.bytes)
    ) {
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

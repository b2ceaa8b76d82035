import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

const HIGH_WATER_MARK_BYTES = 1024 * 1024
/** Bytes on their way to a reader that has not taken them yet. */
const MAX_IN_TRANSIT_BYTES = 2 * 1024 * 1024
/** Bytes that are sent together, because each message wakes the other thread. */
const MESSAGE_BYTES = MAX_IN_TRANSIT_BYTES / 8
/** Taken bytes that are reported together, for the same reason. */
const REPORTED_BYTES = MAX_IN_TRANSIT_BYTES / 4

/** Bytes, the number of bytes that the reader has taken, or null at the end. */
type Message = ArrayBuffer[] | number | null

/** Creates one end of a stream to another thread. The port is closed with it. */
export function createPortStream(port: MessagePort): Duplex {
  return new PortStream(port)
}

class PortStream extends Duplex {
  readonly #port: MessagePort
  #inTransit = 0
  /** Chunks that are sent together, at the latest at the end of this turn. */
  #unsent: Buffer<ArrayBuffer>[] = []
  #unsentBytes = 0
  /** Continues writing. */
  #resume: (() => void) | null = null
  /** Bytes that arrived and are not reported as taken. */
  #held = 0

  constructor(port: MessagePort) {
    super({ highWaterMark: HIGH_WATER_MARK_BYTES })
    this.#port = port
    port.on('message', (message: Message) => this.#receive(message))
    port.on('close', () => this.destroy())
  }

  #receive(message: Message): void {
    if (message === null) this.push(null)
    else if (typeof message === 'number') this.#countTaken(message)
    else {
      let hasRoom = true
      for (const bytes of message) {
        this.#held += bytes.byteLength
        hasRoom = this.push(Buffer.from(bytes))
      }
      if (hasRoom) this.#reportTaken()
    }
  }

  #countTaken(bytes: number): void {
    this.#inTransit -= bytes
    if (this.#inTransit > MAX_IN_TRANSIT_BYTES) return
    const resume = this.#resume
    this.#resume = null
    resume?.()
  }

  #reportTaken(): void {
    if (this.#held < REPORTED_BYTES) return
    this.#send(this.#held)
    this.#held = 0
  }

  #send(message: Message): void {
    this.#port.postMessage(message, Array.isArray(message) ? message : [])
  }

  override _read(): void {
    this.#reportTaken()
  }

  override _write(chunk: Buffer<ArrayBuffer>, _encoding: string, done: () => void): void {
    this.#inTransit += chunk.length
    this.#unsentBytes += chunk.length
    if (this.#unsent.push(chunk) === 1) process.nextTick(() => this.#sendChunks())
    if (this.#unsentBytes >= MESSAGE_BYTES) this.#sendChunks()
    if (this.#inTransit <= MAX_IN_TRANSIT_BYTES) done()
    else this.#resume = done
  }

  #sendChunks(): void {
    if (this.#unsent.length > 0) this.#send(memoryOf(this.#unsent))
    this.#unsent = []
    this.#unsentBytes = 0
  }

  override _final(done: () => void): void {
    this.#sendChunks()
    this.#send(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close()
    done(error)
  }
}

/**
 * The memory of chunks, which is handed over. Those that share their memory with others are copied
 * together.
 */
function memoryOf(chunks: readonly Buffer<ArrayBuffer>[]): ArrayBuffer[] {
  const memory: ArrayBuffer[] = []
  let sharing: Buffer[] = []
  const copySharing = () => {
    if (sharing.length > 0) memory.push(copyOf(sharing))
    sharing = []
  }
  for (const chunk of chunks) {
    if (chunk.length < chunk.buffer.byteLength) sharing.push(chunk)
    else {
      copySharing()
      memory.push(chunk.buffer)
    }
  }
  copySharing()
  return memory
}

function copyOf(chunks: readonly Buffer[]): ArrayBuffer {
  const copy = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) at += chunk.copy(copy, at)
  return copy.buffer
}

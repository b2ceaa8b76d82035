import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

const HIGH_WATER_MARK_BYTES = 1024 * 1024
/** Bytes on their way to a reader that has not taken them yet. */
const MAX_IN_TRANSIT_BYTES = 2 * 1024 * 1024
/** Taken bytes that are reported together, because each report wakes the other thread. */
const REPORTED_BYTES = MAX_IN_TRANSIT_BYTES / 4

/** Bytes, the number of bytes that the reader has taken, or null at the end. */
type Message = Uint8Array<ArrayBuffer> | number | null

/** Creates one end of a stream to another thread. The port is closed with it. */
export function createPortStream(port: MessagePort): Duplex {
  return new PortStream(port)
}

class PortStream extends Duplex {
  readonly #port: MessagePort
  #inTransit = 0
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
      this.#held += message.length
      if (this.push(Buffer.from(message.buffer))) this.#reportTaken()
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
    this.#port.postMessage(message, message instanceof Uint8Array ? [message.buffer] : [])
  }

  override _read(): void {
    this.#reportTaken()
  }

  /** A buffer with memory of its own is handed over; of others, a copy is. */
  override _write(chunk: Buffer<ArrayBuffer>, _encoding: string, done: () => void): void {
    this.#inTransit += chunk.length
    const isWhole = chunk.length === chunk.buffer.byteLength
    this.#send(new Uint8Array(isWhole ? chunk.buffer : chunk))
    if (this.#inTransit <= MAX_IN_TRANSIT_BYTES) done()
    else this.#resume = done
  }

  override _final(done: () => void): void {
    this.#send(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close()
    done(error)
  }
}

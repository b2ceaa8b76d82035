import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'
import type { SharedPlaces } from './shared-places.ts'

const HIGH_WATER_MARK_BYTES = 1024 * 1024
/** Bytes on their way to a reader that has not taken them yet. */
const MAX_IN_TRANSIT_BYTES = 8 * 1024 * 1024
/** Bytes that are sent together, because each message wakes the other thread. */
const MESSAGE_BYTES = MAX_IN_TRANSIT_BYTES / 8
/** Taken bytes that are reported together, for the same reason. */
const REPORTED_BYTES = MAX_IN_TRANSIT_BYTES / 4

/** Memory that is handed over, or a place in memory that both threads share. */
type Part = ArrayBuffer | number

/** Bytes, the number of bytes that the reader has taken, or null at the end. */
type Message = Part[] | number | null

/**
 * Creates one end of a stream to another thread. The port is closed with it.
 * @param places where the other thread finds bytes that are not handed over
 */
export function createPortStream(port: MessagePort, places: SharedPlaces): Duplex {
  return new PortStream(port, places)
}

class PortStream extends Duplex {
  readonly #port: MessagePort
  readonly #places: SharedPlaces
  #inTransit = 0
  /** Chunks that are sent together, at the latest at the end of this turn. */
  #unsent: Buffer[] = []
  #unsentBytes = 0
  /** Continues writing. */
  #resume: (() => void) | null = null
  /** Bytes that arrived and are not reported as taken. */
  #held = 0

  constructor(port: MessagePort, places: SharedPlaces) {
    super({ highWaterMark: HIGH_WATER_MARK_BYTES })
    this.#port = port
    this.#places = places
    port.on('message', (message: Message) => this.#receive(message))
    port.on('close', () => this.destroy())
  }

  #receive(message: Message): void {
    if (message === null) this.push(null)
    else if (typeof message === 'number') this.#countTaken(message)
    else {
      let hasRoom = true
      for (const part of message) {
        const bytes = typeof part === 'number' ? this.#places.filled(part) : Buffer.from(part)
        this.#held += bytes.length
        hasRoom = this.push(bytes)
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
    this.#port.postMessage(message, Array.isArray(message) ? message.filter(isMemory) : [])
  }

  override _read(): void {
    this.#reportTaken()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#inTransit += chunk.length
    this.#unsentBytes += chunk.length
    if (this.#unsent.push(chunk) === 1) process.nextTick(() => this.#sendChunks())
    if (this.#unsentBytes >= MESSAGE_BYTES) this.#sendChunks()
    if (this.#inTransit <= MAX_IN_TRANSIT_BYTES) done()
    else this.#resume = done
  }

  #sendChunks(): void {
    if (this.#unsent.length > 0) this.#send(partsOf(this.#unsent))
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

const isMemory = (part: Part) => typeof part !== 'number'

/**
 * The parts of a message with these chunks. Those that share their memory with others are copied
 * together.
 */
function partsOf(chunks: readonly Buffer[]): Part[] {
  const parts: Part[] = []
  let sharing: Buffer[] = []
  const copySharing = () => {
    if (sharing.length > 0) parts.push(copyOf(sharing))
    sharing = []
  }
  for (const chunk of chunks) {
    const { buffer, byteOffset } = chunk
    const isWhole = buffer.byteLength === chunk.length
    if (buffer instanceof ArrayBuffer && !isWhole) sharing.push(chunk)
    else {
      copySharing()
      parts.push(buffer instanceof ArrayBuffer ? buffer : byteOffset)
    }
  }
  copySharing()
  return parts
}

function copyOf(chunks: readonly Buffer[]): ArrayBuffer {
  const copy = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) at += chunk.copy(copy, at)
  return copy.buffer
}

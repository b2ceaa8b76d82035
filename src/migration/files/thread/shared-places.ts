const BLOCK_BYTES = 2 * 1024
const LENGTH_BYTES = Int32Array.BYTES_PER_ELEMENT

/**
 * Places for messages in memory that two threads share: one fills places, the other reads and frees
 * them. Memory that is used again costs the operating system and the garbage collector nothing.
 */
export class SharedPlaces {
  readonly memory: SharedArrayBuffer
  /** For each block: the bytes of the place that begins there; 0 where none does. */
  readonly #lengths: Int32Array
  readonly #start: number

  /** @param at where the memory for them begins: a multiple of 4 */
  constructor(memory: SharedArrayBuffer, at: number) {
    const count = Math.floor((memory.byteLength - at) / (BLOCK_BYTES + LENGTH_BYTES))
    this.memory = memory
    this.#lengths = new Int32Array(memory, at, count)
    this.#start = memory.byteLength - count * BLOCK_BYTES
  }

  /** Takes the first place with so many bytes; null where there is none. Only for one thread. */
  take(bytes: number): Buffer | null {
    const lengths = this.#lengths
    const needed = blocksOf(bytes)
    let free = 0
    for (let at = 0; at < lengths.length;) {
      const taken = Atomics.load(lengths, at)
      free = taken === 0 ? free + 1 : 0
      at += taken === 0 ? 1 : blocksOf(taken)
      if (free < needed) continue
      const first = at - needed
      Atomics.store(lengths, first, bytes)
      return this.#at(first, bytes)
    }
    return null
  }

  /** What another thread filled. @param place its `byteOffset` */
  filled(place: number): Buffer {
    const block = this.#blockOf(place)
    return this.#at(block, Atomics.load(this.#lengths, block))
  }

  /** Frees a place. @param place anywhere in its first block */
  free(place: number): void {
    Atomics.store(this.#lengths, this.#blockOf(place), 0)
  }

  #at(block: number, bytes: number): Buffer {
    return Buffer.from(this.memory, this.#start + block * BLOCK_BYTES, bytes)
  }

  #blockOf(place: number): number {
    return Math.floor((place - this.#start) / BLOCK_BYTES)
  }
}

const blocksOf = (bytes: number) => Math.ceil(bytes / BLOCK_BYTES)

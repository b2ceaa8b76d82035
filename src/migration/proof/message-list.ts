import { createHash } from 'node:crypto'

/** What identifies a message on both sides, from the most to the least exact. */
export type MessageKeys = {
  /** SHA-256: of the bytes, or of size and Message-ID. */
  exact: Buffer
  /** SHA-256 of the bytes without their line ends; in a proof by headers the same as `id`. */
  loose: Buffer
  /** SHA-256 of the Message-ID, or of the beginning of a message without one. */
  id: Buffer
}

export type ListedMessage = {
  uid: number
  size: number
  /** Milliseconds since 1970; null where the server gave no valid date. */
  date: number | null
  /** Sorted, in lower case, without `\recent`. */
  flags: string
}

const KEY_BYTES = 32
const ROW_BYTES = 3 * KEY_BYTES
const OFFSETS = { exact: 0, loose: KEY_BYTES, id: 2 * KEY_BYTES }
export type KeyName = keyof typeof OFFSETS

/**
 * The messages of a folder on one side. Keys are packed, because a folder can have hundreds of
 * thousands of messages.
 */
export class MessageList {
  #keys = Buffer.alloc(64 * ROW_BYTES)
  readonly #uids: number[] = []
  readonly #sizes: number[] = []
  readonly #dates: number[] = []
  readonly #flags: string[] = []
  /** Each combination of flags is stored once. */
  readonly #texts = new Map<string, string>()

  get count(): number {
    return this.#uids.length
  }

  add({ uid, size, date, flags }: ListedMessage, keys: MessageKeys): void {
    const at = this.count * ROW_BYTES
    if (at === this.#keys.length) this.#keys = Buffer.concat([this.#keys], 2 * at)
    for (const name of Object.keys(OFFSETS) as KeyName[])
      keys[name].copy(this.#keys, at + OFFSETS[name])
    const text = this.#texts.get(flags) ?? flags
    this.#texts.set(text, text)
    this.#uids.push(uid)
    this.#sizes.push(size)
    this.#dates.push(date ?? NaN)
    this.#flags.push(text)
  }

  uids(): readonly number[] {
    return this.#uids
  }

  get(index: number): ListedMessage {
    const date = this.#dates[index] ?? NaN
    return {
      uid: this.#uids[index] ?? 0,
      size: this.#sizes[index] ?? 0,
      date: Number.isNaN(date) ? null : date,
      flags: this.#flags[index] ?? '',
    }
  }

  key(index: number, name: KeyName): Buffer {
    const start = index * ROW_BYTES + OFFSETS[name]
    return this.#keys.subarray(start, start + KEY_BYTES)
  }

  /** The indexes in the order of the exact keys; equal messages by date and UID. */
  sorted(): number[] {
    return Array.from(this.#uids, (_, index) => index).toSorted(
      (a, b) =>
        this.compareExact(a, this, b) ||
        (this.#dates[a] ?? 0) - (this.#dates[b] ?? 0) ||
        (this.#uids[a] ?? 0) - (this.#uids[b] ?? 0),
    )
  }

  compareExact(index: number, other: MessageList, otherIndex: number): number {
    const [a, b] = [index * ROW_BYTES, otherIndex * ROW_BYTES]
    return this.#keys.compare(other.#keys, b, b + KEY_BYTES, a, a + KEY_BYTES)
  }

  /**
   * The sum of messages: their number, their bytes, and the SHA-256 of their exact keys in ascending
   * order, which does not depend on the order of the messages.
   * @param indexes in the order of the exact keys
   */
  sum(indexes: readonly number[]): MessageSum {
    const digest = createHash('sha256')
    let bytes = 0
    for (const index of indexes) {
      digest.update(this.key(index, 'exact'))
      bytes += this.#sizes[index] ?? 0
    }
    return { messages: indexes.length, bytes, digest: digest.digest('hex') }
  }
}

/** A number of messages, their bytes, and a digest over all of them. */
export type MessageSum = { messages: number; bytes: number; digest: string }

import type { SavedFolder } from './journal.ts'
import { parseUidSet, type UidSet } from './uid-set.ts'

/**
 * The processed messages of a folder: every message up to `lastUid` and single ones above it, except
 * those to retry. The set stays small, because `lastUid` follows the messages in order.
 */
export class ProcessedMessages {
  lastUid: number
  /** Messages left to process. */
  left = 0
  readonly #beyond: UidSet
  readonly #again: UidSet
  /** Source UIDs above `lastUid`, ascending, and how many of them `lastUid` has passed. */
  #order: number[] = []
  #position = 0
  /** Those of earlier runs. */
  readonly #earlier: { lastUid: number; beyond: UidSet }

  constructor({ lastUid, beyond, again }: Pick<SavedFolder, 'lastUid' | 'beyond' | 'again'>) {
    this.lastUid = lastUid
    this.#earlier = { lastUid, beyond: parseUidSet(beyond) }
    this.#beyond = parseUidSet(beyond)
    this.#again = parseUidSet(again)
  }

  /**
   * Sets the messages of the source, and returns those left to process, ascending.
   * @param isWhole whether they are known to be all. Otherwise `lastUid` stays, because it would
   *   pass messages that the source has not listed
   */
  start(sourceUids: readonly number[], isWhole = true): number[] {
    this.#setOrder(isWhole ? sourceUids : [])
    if (this.#again.size > 0) {
      const isHere = new Set(sourceUids)
      for (const uid of this.#again) if (!isHere.has(uid)) this.#again.delete(uid)
    }
    const left = sourceUids.filter((uid) => !this.has(uid))
    this.left = left.length
    return left
  }

  /** Lets `lastUid` follow: the messages of the source are known to be all that it has. */
  settle(sourceUids: readonly number[]): void {
    this.#setOrder(sourceUids)
    this.#advance()
  }

  #setOrder(sourceUids: readonly number[]): void {
    this.#order = sourceUids.filter((uid) => uid > this.lastUid)
    this.#position = 0
  }

  /** Adds messages that earlier runs have not processed, although `lastUid` has passed them. */
  addUnprocessed(sourceUids: readonly number[]): void {
    for (const uid of sourceUids) if (uid <= this.lastUid) this.#again.add(uid)
  }

  /** Adds messages that arrived at the source since. Their UIDs are above all others. */
  extend(sourceUids: readonly number[]): void {
    for (const uid of sourceUids) this.#order.push(uid)
    this.left += sourceUids.length
  }

  /** Adds messages that the listing omitted, unless earlier runs have processed them. */
  addOmitted(sourceUids: readonly number[]): void {
    const { lastUid, beyond } = this.#earlier
    for (const uid of sourceUids)
      if (uid > lastUid && uid <= this.lastUid && !beyond.has(uid)) this.#again.add(uid)
  }

  has(uid: number): boolean {
    return !this.#again.has(uid) && (uid <= this.lastUid || this.#beyond.has(uid))
  }

  /** Adds a message; false when it was processed already. */
  add(uid: number): boolean {
    if (this.has(uid)) return false
    this.left -= 1
    this.#again.delete(uid)
    if (uid > this.lastUid) this.#beyond.add(uid)
    this.#advance()
    return true
  }

  toSaved(): Pick<SavedFolder, 'lastUid' | 'beyond' | 'again'> {
    return {
      lastUid: this.lastUid,
      beyond: this.#beyond.toString(),
      again: this.#again.toString(),
    }
  }

  #advance(): void {
    const before = this.lastUid
    for (
      let next = this.#order[this.#position];
      next !== undefined && this.has(next);
      next = this.#order[(this.#position += 1)]
    ) {
      this.lastUid = Math.max(this.lastUid, next)
    }
    if (this.lastUid > before) this.#beyond.dropBelow(this.lastUid + 1)
  }
}

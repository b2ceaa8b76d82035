import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'

export type KeyedGroupCommit<In, Out> = {
  /** Resolves with the result once the item is committed. */
  submit(item: In): Promise<Out>
  /** Waits for submitted items, for some seconds at most. */
  close(): Promise<void>
}

type Options<In, Out> = {
  /**
   * Stores a group durably and returns the result of each item, in order.
   * @param slot the slot of this group among those in progress: 0 or 1
   */
  commit: (group: In[], slot: number) => Promise<Out[]>
  /** How much an item adds to a group, and the most of a group, though one item always fits. */
  sizeOf: (item: In) => number
  most: number
  /** The keys of an item that no other group may have at the same time. */
  keysOf: (item: In) => string[]
  /** Items that may wait before more are rejected. */
  patience: number
}

type Waiting<In, Out> = {
  item: In
  keys: string[]
  size: number
  resolve: (out: Out) => void
  reject: (error: unknown) => void
}

/** Concurrent groups: one is prepared while the database stores the other. */
export const MAX_CONCURRENT_GROUPS = 2

/**
 * Milliseconds for the last groups. Items without a response by then were never reported as stored.
 */
const CLOSE_DEADLINE_MS = 5_000

/**
 * Commits items that arrive during a commit together, so that one flush of the disk serves all of
 * them.
 */
export function createKeyedGroupCommit<In, Out>(
  options: Options<In, Out>,
): KeyedGroupCommit<In, Out> {
  const { commit, sizeOf, keysOf, most, patience } = options
  let waiting: Waiting<In, Out>[] = []
  let waitingSize = 0
  let isDue = false
  const slots = Array.from({ length: MAX_CONCURRENT_GROUPS }, (_, slot) => slot)
  const flights = new Map<Promise<void>, number>()
  const taken = new Set<string>()

  function begin(): void {
    // A short wait for items that arrive together with the first.
    if (!isDue) setImmediate(startCommit)
    isDue = true
  }

  function startCommit(): void {
    isDue = false
    const slot = isWorthAnother() ? slots.pop() : undefined
    if (slot === undefined) return
    const group = nextGroup()
    if (group.length === 0) return void slots.push(slot)
    const flight = commitGroup(group, slot).finally(() => {
      flights.delete(flight)
      for (const { keys } of group) for (const key of keys) taken.delete(key)
      slots.push(slot)
      if (waiting.length > 0) begin()
    })
    flights.set(flight, group.length)
  }

  /**
   * A second group must be large enough: two large groups cost less than one and many small ones.
   */
  function isWorthAnother(): boolean {
    const [underWay = 0] = flights.values()
    return waiting.length * 2 >= underWay
  }

  function nextGroup(): Waiting<In, Out>[] {
    const group: Waiting<In, Out>[] = []
    const left: Waiting<In, Out>[] = []
    // An item that must wait keeps its place: later items with its keys wait behind it.
    const held = new Set<string>()
    let size = 0
    for (const entry of waiting) {
      const fits = group.length === 0 || size + entry.size <= most
      if (fits && entry.keys.every((key) => !taken.has(key) && !held.has(key))) {
        group.push(entry)
        size += entry.size
      } else {
        left.push(entry)
        for (const key of entry.keys) held.add(key)
      }
    }
    for (const { keys } of group) for (const key of keys) taken.add(key)
    waiting = left
    waitingSize -= size
    return group
  }

  async function commitGroup(group: Waiting<In, Out>[], slot: number): Promise<void> {
    try {
      const outcomes = await commit(
        group.map(({ item }) => item),
        slot,
      )
      group.forEach(({ resolve }, index) => resolve(outcomes[index] as Out))
    } catch (error) {
      group.forEach(({ reject }) => reject(error))
    }
  }

  async function finish(): Promise<void> {
    while (waiting.length > 0 || flights.size > 0) await Promise.race([...flights.keys(), sleep(1)])
  }

  return {
    submit(item) {
      const size = sizeOf(item)
      if (waitingSize + size > patience)
        return Promise.reject(
          new Fault('unavailable', 'The service is overloaded. Try again in a few seconds.', {
            retryAfter: 5,
          }),
        )
      waitingSize += size
      return new Promise((resolve, reject) => {
        waiting.push({ item, keys: keysOf(item), size, resolve, reject })
        begin()
      })
    },
    async close() {
      await Promise.race([finish(), sleep(CLOSE_DEADLINE_MS, undefined, { ref: false })])
    },
  }
}

/** A set of UIDs, stored as ranges: hundreds of thousands of consecutive UIDs need one. */
export type UidSet = {
  readonly size: number
  has(uid: number): boolean
  add(uid: number): void
  /** Adds a range. */
  addRange(from: number, to: number): void
  delete(uid: number): void
  /** The smallest UID; undefined for an empty set. */
  first(): number | undefined
  /** Removes all smaller UIDs. */
  dropBelow(uid: number): void
  /** In ascending order. */
  [Symbol.iterator](): Iterator<number>
  /** As an IMAP sequence set: `1:3,7`; empty for an empty set. */
  toString(): string
}

/**
 * Parses the result of `toString`.
 * @throws RangeError for any other text
 */
export function parseUidSet(text: string): UidSet {
  const set = createUidSet()
  for (const range of text.split(',').filter((part) => part !== '')) {
    const match = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(range)
    if (!match) throw new RangeError(`“${range}” is no range of UIDs`)
    set.addRange(Number(match[1]), Number(match[2] ?? match[1]))
  }
  return set
}

export function createUidSet(uids: Iterable<number> = []): UidSet {
  // Ascending and not adjacent.
  const ranges: [number, number][] = []
  let size = 0

  /** The index of the first range that ends at `uid` or later. */
  function find(uid: number): number {
    let [low, high] = [0, ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ranges[middle]?.[1] ?? 0) < uid) low = middle + 1
      else high = middle
    }
    return low
  }

  function addRange(from: number, to: number): void {
    // Adjacent ranges are merged, so the search extends by one on both sides.
    const start = find(from - 1)
    let end = start
    let [low, high] = [from, to]
    for (let range = ranges[end]; range && range[0] <= to + 1; range = ranges[(end += 1)]) {
      low = Math.min(low, range[0])
      high = Math.max(high, range[1])
      size -= range[1] - range[0] + 1
    }
    ranges.splice(start, end - start, [low, high])
    size += high - low + 1
  }

  function remove(uid: number): void {
    const index = find(uid)
    const range = ranges[index]
    if (!range || range[0] > uid) return
    const left: [number, number][] = range[0] < uid ? [[range[0], uid - 1]] : []
    const right: [number, number][] = range[1] > uid ? [[uid + 1, range[1]]] : []
    ranges.splice(index, 1, ...left, ...right)
    size -= 1
  }

  function dropBelow(uid: number): void {
    const kept = ranges.splice(find(uid))
    if (kept[0] && kept[0][0] < uid) kept[0] = [uid, kept[0][1]]
    ranges.splice(0, ranges.length, ...kept)
    size = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
  }

  for (const uid of uids) addRange(uid, uid)
  return {
    get size() {
      return size
    },
    has: (uid) => (ranges[find(uid)]?.[0] ?? Infinity) <= uid,
    add: (uid) => addRange(uid, uid),
    addRange,
    delete: remove,
    first: () => ranges[0]?.[0],
    dropBelow,
    *[Symbol.iterator]() {
      for (const [from, to] of ranges) for (let uid = from; uid <= to; uid++) yield uid
    },
    toString: () =>
      ranges.map(([from, to]) => (from === to ? String(from) : `${from}:${to}`)).join(','),
  }
}

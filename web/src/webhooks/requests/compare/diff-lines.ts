export type LineChange = { kind: 'same' | 'gone' | 'new'; line: string }

/** Lines times lines that are compared at once; beyond it a window would freeze. */
const MOST_WORK = 4_000_000

/** Compares two texts line by line; null when there is too much to compare. */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
): LineChange[] | null {
  const head = commonLength(before, after)
  const tail = commonLength(before.slice(head).toReversed(), after.slice(head).toReversed())
  const [old, young] = [
    before.slice(head, before.length - tail),
    after.slice(head, after.length - tail),
  ]
  if (old.length * young.length > MOST_WORK) return null
  const same = (line: string): LineChange => ({ kind: 'same', line })
  return [
    ...after.slice(0, head).map(same),
    ...between(old, young),
    ...after.slice(after.length - tail).map(same),
  ]
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return at
  return length
}

/** By the longest common subsequence. */
function between(old: readonly string[], young: readonly string[]): LineChange[] {
  const width = young.length + 1
  const lengths = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === young[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const changes: LineChange[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < young.length) {
    const isSame = i < old.length && j < young.length && old[i] === young[j]
    if (isSame) changes.push({ kind: 'same', line: young[(i++, j++)] as string })
    else if (j >= young.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      changes.push({ kind: 'gone', line: old[i++] as string })
    else changes.push({ kind: 'new', line: young[j++] as string })
  }
  return changes
}

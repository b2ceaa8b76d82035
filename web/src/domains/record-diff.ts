/** A part of a record: in both versions, only in the old one, or only in the new one. */
export type DiffPart = { kind: 'same' | 'removed' | 'added'; text: string }

/**
 * Compares two records by their tags or terms (`p=none;`, `include:example.net`), as a longest
 * common subsequence. Records have at most a few hundred of them.
 */
export function diffRecords(before: string, after: string): DiffPart[] {
  const old = termsOf(before)
  const now = termsOf(after)
  const lengths = commonLengths(old, now)
  const parts: DiffPart[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      parts.push({ kind: 'same', text: old[i] as string })
      i++
      j++
    } else if (
      j >= now.length ||
      (i < old.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))
    ) {
      parts.push({ kind: 'removed', text: old[i++] as string })
    } else parts.push({ kind: 'added', text: now[j++] as string })
  }
  return parts
}

function termsOf(record: string): string[] {
  return record.split(/(?<=;)\s*|\s+/).filter((term) => term !== '')
}

/** For each pair of positions, how many terms the rests have in common. */
function commonLengths(old: string[], now: string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () =>
    Array.from({ length: now.length + 1 }, () => 0),
  )
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      (lengths[i] as number[])[j] =
        old[i] === now[j]
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1))
  return lengths
}

const at = (lengths: number[][], i: number, j: number): number => lengths[i]?.[j] ?? 0

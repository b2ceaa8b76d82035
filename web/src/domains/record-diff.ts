/** A tag or term of a record, such as `p=none;` or `include:example.net`. */
export type DiffTerm = { text: string; isChanged: boolean }

/**
 * Compares two records by their tags or terms, as a longest common subsequence. Records have at most
 * a few hundred of them.
 * @returns the terms of both records; those that only one of them has are changed
 */
export function diffRecords(
  before: string,
  after: string,
): { before: DiffTerm[]; after: DiffTerm[] } {
  const old = termsOf(before)
  const now = termsOf(after)
  const lengths = commonLengths(old.map(withoutSeparator), now.map(withoutSeparator))
  const terms: ReturnType<typeof diffRecords> = { before: [], after: [] }
  let i = 0
  let j = 0
  const takeOld = (isChanged: boolean) => terms.before.push({ text: old[i++] ?? '', isChanged })
  const takeNow = (isChanged: boolean) => terms.after.push({ text: now[j++] ?? '', isChanged })
  while (i < old.length || j < now.length) {
    const isSame = withoutSeparator(old[i] ?? '') === withoutSeparator(now[j] ?? '')
    if (isSame) {
      takeOld(false)
      takeNow(false)
    } else if (
      j >= now.length ||
      (i < old.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))
    )
      takeOld(true)
    else takeNow(true)
  }
  return terms
}

function termsOf(record: string): string[] {
  return record.split(/(?<=;)\s*|\s+/).filter((term) => term !== '')
}

/** The last tag of a record may end without a semicolon. */
const withoutSeparator = (term: string) => term.replace(/;$/, '')

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

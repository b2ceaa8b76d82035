/** Edits between a typed word and a suggestion, for words of up to 4, 7 and more letters. */
function allowedEdits({ length }: string): number {
  if (length <= 4) return 1
  return length <= 7 ? 2 : 3
}

/** The known word that was most likely meant, or undefined if none is close. */
export function closestWord(typed: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((word) => ({ word, edits: word.startsWith(typed) ? 0.5 : editDistance(typed, word) }))
    .filter(({ edits }) => edits <= allowedEdits(typed))
    .toSorted((a, b) => a.edits - b.edits)
  return typed.length > 1 ? best?.word : undefined
}

/**
 * The number of letters to insert, remove, replace or swap with the next one (Damerau–Levenshtein,
 * optimal string alignment).
 */
export function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Infinity
      row.push(Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1))
    }
  }
  return at(a.length, b.length)
}

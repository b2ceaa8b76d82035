/** Characters that are read for each one that is kept; the others are white space. */
const READ_AHEAD = 8

/**
 * Makes one short line of a text from outside: runs of white space and control characters become a
 * space, and what is cut off a “…”. Only the beginning of a long text is read: a regular expression
 * over megabytes of one character can exceed the stack.
 * @param maxCharacters in UTF-16 code units, without the “…”
 */
export function clipText(text: string, maxCharacters: number): string {
  const line = text
    .slice(0, maxCharacters * READ_AHEAD)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  const clipped = line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line
  return clipped.toWellFormed()
}

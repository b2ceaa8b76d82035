import { stripVTControlCharacters, styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Text in a colour if `out` is a terminal with colours (NO_COLOR and FORCE_COLOR apply). */
export function paint(
  style: Style,
  text: string,
  out: NodeJS.WriteStream = process.stdout,
): string {
  return styleText(style, text, { stream: out })
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
/** Letters of East Asia, full-width forms and what terminals show as emoji (UAX 11). */
const WIDE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Yi}\p{Emoji_Presentation}\u3000-\u303e\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6]|\p{Emoji}\ufe0f/u
const HALF_WIDTH = /^[\uff61-\uffdc]/

/** The columns a text takes, without its colours. */
export function width(text: string): number {
  const plain = stripVTControlCharacters(text)
  if (/^[ -~]*$/.test(plain)) return plain.length
  return Array.from(SEGMENTER.segment(plain)).reduce((sum, { segment }) => {
    if (WITHOUT_WIDTH.test(segment)) return sum
    return sum + (WIDE.test(segment) && !HALF_WIDTH.test(segment) ? 2 : 1)
  }, 0)
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)))
}

/** Rows in aligned columns, two spaces between them; the last column is not padded. */
export function table(rows: string[][], indent = '  '): string {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(0, ...rows.map((row) => width(row[i] ?? ''))),
  )
  const line = (row: string[]) =>
    row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0))).join('  ')
  return rows.map((row) => indent + line(row)).join('\n')
}

/** A label and its values, one per line; `none` for an empty list. */
export function field(label: string, values: string | string[], none = 'none'): string[][] {
  const lines = [values].flat()
  if (lines.length === 0) return [[paint('dim', label), paint('dim', none)]]
  return lines.map((value, i) => [i === 0 ? paint('dim', label) : '', value])
}

const CONTROL_CHARACTERS =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Makes text from outside safe for a terminal: one line, no escape sequences. */
export function sanitizeForTerminal(text: string): string {
  return stripVTControlCharacters(text).replace(CONTROL_CHARACTERS, '\uFFFD')
}

import { parse, type CsvError } from 'csv-parse/sync'
import { BATCH_LIMITS } from '../limits.ts'

const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/** One line of a file: its cells, or why it could not be split. */
export type SplitLine = { line: number } & (
  | { cells: string[]; problem: null }
  | { cells: null; problem: string }
)

/** Lines with content, with their number in the file. Lines that begin with `#` are comments. */
export function contentLines(text: string): { line: number; text: string }[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((content, index) => ({ line: index + 1, text: content }))
    .filter(({ text: content }) => content.trim() !== '' && !content.startsWith('#'))
}

/** Lines that are compared to find the delimiter. */
const SAMPLE_LINES = 20

/**
 * Finds the delimiter: the one that the most lines contain equally often. Passwords may contain the
 * others.
 */
export function findDelimiter(lines: readonly { text: string }[]): Delimiter {
  const sample = lines.slice(0, SAMPLE_LINES)
  const scores = DELIMITERS.map((delimiter) => {
    const counts = sample.map(({ text }) => text.split(delimiter).length - 1)
    const first = counts[0] ?? 0
    return { delimiter, equal: first === 0 ? 0 : counts.filter((n) => n === first).length, first }
  })
  const best = scores.toSorted((a, b) => b.equal - a.equal || b.first - a.first)[0]
  return best?.delimiter ?? ','
}

/**
 * Splits each line alone: no value of an account contains a line break, and so an open quotation
 * mark spoils one line only.
 * @param quotes false for formats without quoting, where `"` is part of a password
 */
export function splitLines(
  lines: readonly { line: number; text: string }[],
  delimiter: Delimiter,
  quotes: boolean,
): SplitLine[] {
  return lines.map(({ line, text }) => {
    if (text.length > BATCH_LIMITS.maxLineChars)
      return { line, cells: null, problem: 'The line is too long.' }
    if (!quotes) return withinColumns(line, text.split(delimiter))
    try {
      const options = { delimiter, relax_quotes: true, relax_column_count: true }
      return withinColumns(line, parse(text, options)[0] ?? [])
    } catch (error) {
      return { line, cells: null, problem: problemOf(error as CsvError) }
    }
  })
}

function withinColumns(line: number, cells: string[]): SplitLine {
  return cells.length > BATCH_LIMITS.maxColumns
    ? { line, cells: null, problem: `The line has more than ${BATCH_LIMITS.maxColumns} columns.` }
    : { line, cells, problem: null }
}

function problemOf({ code }: CsvError): string {
  return code === 'CSV_QUOTE_NOT_CLOSED'
    ? 'A quotation mark is not closed.'
    : 'The line could not be split into columns. Check its quotation marks.'
}

import { BATCH_LIMITS } from '../limits.ts'
import type { Field } from './columns.ts'

const DELIMITERS = [',', ';', '\t']

/** A line of a file, with its number. */
export type Line = { line: number; text: string }

/** One line of a file: its cells, or why it could not be split. */
export type SplitLine = { line: number } & (
  | { cells: string[]; problem: null }
  | { cells: null; problem: string }
)

/** How a file is split, and the field of each column. */
type Layout = { delimiter: string; isQuoted: boolean; columns: readonly (Field | null)[] }

/** `sep=;`, with which spreadsheets name the delimiter. */
const SEPARATOR = /^"?sep=([^\w\s"]|\t)"?[,;\t]*$/i

/** Lines with content, and the delimiter that the first one names. */
export function contentLines(text: string): { lines: Line[]; named: string | null } {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((content, index) => ({ line: index + 1, text: content }))
    .filter(({ text: content }) => content.trim() !== '')
  const named = SEPARATOR.exec(lines[0]?.text ?? '')?.[1] ?? null
  return { lines: named === null ? lines : lines.slice(1), named }
}

/** Whether a line begins as comments do, although a password may begin so, too. */
export const mayBeComment = ({ text }: Line) => text.startsWith('#')

/** Lines that are compared to find the delimiter. */
const SAMPLE_LINES = 20

/**
 * Finds the delimiter: the one that the most lines contain equally often. Passwords may contain the
 * others.
 */
export function findDelimiter(lines: readonly Line[]): string {
  const sample = lines.slice(0, SAMPLE_LINES)
  const scores = DELIMITERS.map((delimiter) => {
    const counts = sample.map(({ text }) => text.split(delimiter).length - 1)
    const first = counts[0] ?? 0
    return { delimiter, equal: first === 0 ? 0 : counts.filter((n) => n === first).length, first }
  })
  const best = scores.toSorted((a, b) => b.equal - a.equal || b.first - a.first)[0]
  return best?.delimiter ?? ','
}

/** Splits each line alone, so that an open quotation mark spoils one line only, but see `joinNote`. */
export function splitLines(lines: readonly Line[], layout: Layout): SplitLine[] {
  const split: SplitLine[] = []
  const startsWithPassword = layout.columns[0]?.toLowerCase().endsWith('password') ?? false
  for (let at = 0; at < lines.length; at++) {
    const one = lines[at] as Line
    const found = splitLine(one, layout)
    const isComment = mayBeComment(one) && !(startsWithPassword && (found.cells?.length ?? 0) > 1)
    if (isComment || found.cells?.every((cell) => cell.trim() === '')) continue
    const joined = found.problem === OPEN_QUOTE ? joinNote(lines, at, layout) : null
    if (joined) at += joined.more
    split.push(joined ?? found)
  }
  return split
}

/** Splits one line. Without quoting, `"` is part of a password. */
export function splitLine({ line, text }: Line, { delimiter, isQuoted }: Layout): SplitLine {
  if (text.length > BATCH_LIMITS.maxLineChars)
    return { line, cells: null, problem: 'The line is too long.' }
  if (!isQuoted) return withinColumns(line, text.split(delimiter))
  const cells: string[] = []
  for (let at = 0; at <= text.length; at += delimiter.length) {
    BEFORE_QUOTE.lastIndex = at
    const cell = BEFORE_QUOTE.test(text)
      ? quotedCell(text, BEFORE_QUOTE.lastIndex, delimiter)
      : plainCell(text, at, delimiter)
    if ('problem' in cell) return { line, cells: null, problem: cell.problem }
    cells.push(cell.value)
    at = cell.end
  }
  return withinColumns(line, cells)
}

type Cell = { value: string; end: number }

/** Blanks before a quotation mark are no text. */
const BEFORE_QUOTE = / *"/y

function plainCell(text: string, at: number, delimiter: string): Cell {
  const found = text.indexOf(delimiter, at)
  const end = found === -1 ? text.length : found
  return { value: text.slice(at, end), end }
}

/** A cell behind its first quotation mark (RFC 4180), whose others are doubled. */
function quotedCell(text: string, start: number, delimiter: string): Cell | { problem: string } {
  let close = text.indexOf('"', start)
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close === -1) return { problem: OPEN_QUOTE }
  const { value: rest, end } = plainCell(text, close + 1, delimiter)
  if (rest.trim() !== '') return { problem: STRAY_QUOTE }
  return { value: text.slice(start, close).replaceAll('""', '"'), end }
}

/** Lines that a note can have. */
const MAX_NOTE_LINES = 20

/**
 * Joins a line whose quotation mark is open with those below it, where that closes a cell of a
 * column that is not read, such as notes. No value of an account contains a line break.
 */
function joinNote(
  lines: readonly Line[],
  at: number,
  layout: Layout,
): (SplitLine & { more: number }) | null {
  const { line, text } = lines[at] as Line
  if (!layout.columns.includes(null)) return null
  let joined = text
  for (const [index, next] of lines.slice(at + 1, at + MAX_NOTE_LINES).entries()) {
    joined += `\n${next.text}`
    if (joined.split('"').length % 2 === 0) continue
    const found = splitLine({ line, text: joined }, layout)
    const isNote = (cell: string, column: number) =>
      !cell.includes('\n') || (layout.columns[column] ?? null) === null
    return found.cells?.every(isNote) ? { ...found, more: index + 1 } : null
  }
  return null
}

function withinColumns(line: number, cells: string[]): SplitLine {
  return cells.length > BATCH_LIMITS.maxColumns
    ? { line, cells: null, problem: `The line has more than ${BATCH_LIMITS.maxColumns} columns.` }
    : { line, cells, problem: null }
}

const OPEN_QUOTE = 'A quotation mark is not closed.'
const STRAY_QUOTE = 'There is text behind a quotation mark. In quoted cells, double it.'

import { Fault, messageOf } from '../../errors.ts'
import type { AttackReport } from './record-report.ts'
import { parseReportTime } from './report-time.ts'
import { requireService, serviceOfCategories } from '../services.ts'
import { trimInvisible } from '../../net/address.ts'
import { readSubject } from '../subject.ts'
import { DAY_MS } from '../../time.ts'

/** The maximum number of rows of one request. */
export const MAX_ROWS = 1_000

/** Maximum age of a row with a time. */
const MAX_AGE_MS = DAY_MS

/** The columns of AbuseIPDB’s CSV that are read, in its order. */
const CSV_COLUMNS = ['ip', 'categories', 'reportdate']
/** Characters that a header can have. */
const MAX_HEADER_CHARS = 200

export type BulkRow = { line: number; report: AttackReport } | { line: number; error: string }

/**
 * Reads JSON lines or, recognized by its header, AbuseIPDB’s CSV. Comments are not stored.
 * @returns every row with its line, as a report or as its problem
 * @throws Fault `invalid_request` when there are no rows, or too many
 */
export function readBulk(text: string, now: number): BulkRow[] {
  const rows: Row[] = hasCsvHeader(text) ? readCsvRows(text) : readLines(text)
  if (rows.length === 0) throw new Fault('invalid_request', 'The body contains no reports.')
  if (rows.length > MAX_ROWS)
    throw new Fault(
      'invalid_request',
      `A request can contain up to ${MAX_ROWS} reports. Send the others in further requests.`,
    )
  return rows.map(({ line, fields, text: json }) => {
    try {
      return { line, report: fields ? reportOfFields(fields, now) : reportOfJson(json ?? '') }
    } catch (error) {
      return { line, error: messageOf(error) }
    }
  })
}

/** `sep=;`, with which spreadsheets name the delimiter. */
const SEPARATOR = /^"?sep=([,;\t])"?[,;\t]*(?:\r\n|\n|\r)/i

function hasCsvHeader(text: string): boolean {
  return columnsOf(readCsv(text.slice(0, MAX_HEADER_CHARS))[0]) !== null
}

/** Where the columns are, in any order; null for a row that does not have their names. */
function columnsOf(row: CsvRow | undefined): number[] | null {
  const names = row?.fields.map((name) => name.trim().toLowerCase()) ?? []
  const columns = CSV_COLUMNS.map((name) => names.indexOf(name))
  return columns.includes(-1) ? null : columns
}

type CsvRow = { line: number; fields: string[] }
type Row = { line: number; text?: string; fields?: string[] }

function readLines(text: string): Row[] {
  const rows: Row[] = []
  let line = 1
  // Two megabytes can be two million lines, so reading ends with the first row beyond the limit.
  for (let start = 0; start < text.length && rows.length <= MAX_ROWS; line += 1) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const row = text.slice(start, end).trim()
    if (row !== '') rows.push({ line, text: row })
    start = end + 1
  }
  return rows
}

/** The rows of AbuseIPDB’s CSV in its order of columns, without its header where there is one. */
export function readCsvRows(text: string): CsvRow[] {
  const rows = readCsv(text)
  const columns = columnsOf(rows[0])
  if (columns)
    return rows.slice(1).map(({ line, fields }) => ({
      line,
      fields: columns.map((at) => fields[at] ?? ''),
    }))
  const isHeader = rows[0]?.fields[0]?.trim().toLowerCase() === 'ip'
  return rows.slice(isHeader ? 1 : 0)
}

/** A field and what ends it, by delimiter. Blanks around quotes are tolerated. */
const FIELDS = {
  ',': /(?:[ \t]*("(?:[^"]|"")*")[ \t]*|([^,\r\n]*))(,|\r\n|\n|\r|$)/gy,
  ';': /(?:[ \t]*("(?:[^"]|"")*")[ \t]*|([^;\r\n]*))(;|\r\n|\n|\r|$)/gy,
  '\t': / *(?:("(?:[^"]|"")*") *|([^\t\r\n]*))(\t|\r\n|\n|\r|$)/gy,
}
type Delimiter = keyof typeof FIELDS

/**
 * RFC 4180: quoted fields may hold delimiters, quotes doubled, and line ends. The delimiter is the
 * one that the first line names (`sep=;`) or has first.
 */
function readCsv(given: string): CsvRow[] {
  const marked = given.replace(/^\uFEFF/, '')
  const [first = '', named] = SEPARATOR.exec(marked) ?? []
  const text = marked.slice(first.length)
  const rows: CsvRow[] = []
  const found = named ?? /[,;\t\r\n]/.exec(text)?.[0] ?? ','
  const delimiter = found in FIELDS ? (found as Delimiter) : ','
  const field = FIELDS[delimiter]
  field.lastIndex = 0
  const begin = first === '' ? 1 : 2
  let [line, fields, start]: [number, string[], number] = [begin, [], begin]
  for (let match = field.exec(text); match; match = field.exec(text)) {
    const [whole, quoted, plain = '', end] = match
    fields.push(quoted === undefined ? plain : quoted.slice(1, -1).replaceAll('""', '"'))
    line += whole.split(/\r\n|\n|\r/).length - 1
    if (end === delimiter) continue
    if (fields.some((value) => value !== '')) rows.push({ line: start, fields })
    fields = []
    start = line
    // The header is a row, too.
    if (rows.length > MAX_ROWS + 1 || end === '' || field.lastIndex >= text.length) break
  }
  return rows
}

export function reportOfFields(
  [ip = '', categories = '', date = '']: string[],
  now: number,
): AttackReport {
  const at = date === '' ? now : parseReportTime(date)
  if (at === null || at > now + MAX_AGE_MS) throw new Error(`“${date.slice(0, 40)}” is not a date.`)
  if (now - at > MAX_AGE_MS) throw new Error('The report is older than a day.')
  const service = serviceOfCategories(categories.split(',').map(Number))
  if (!service) throw new Error(`“${categories.slice(0, 40)}” contains no AbuseIPDB category.`)
  return { subject: readSubject(trimInvisible(ip)), service: service.id, port: null, count: 1 }
}

function reportOfJson(text: string): AttackReport {
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch {
    throw new Error('The line is not valid JSON.')
  }
  if (typeof row !== 'object' || row === null) throw new Error('The line is not a JSON object.')
  const { ip, service, port = null, count = 1 } = row as Record<string, unknown>
  if (typeof ip !== 'string' || typeof service !== 'string')
    throw new Error('ip and service are required strings.')
  if (port !== null && !isWhole(port, 65_535))
    throw new Error('port must be an integer from 1 to 65535.')
  if (!isWhole(count, 100_000)) throw new Error('count must be an integer from 1 to 100000.')
  return { subject: readSubject(ip), service: requireService(service).id, port, count }
}

function isWhole(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most
}

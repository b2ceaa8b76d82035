import { Fault, messageOf } from '../../errors.ts'
import type { AttackReport } from './record-report.ts'
import { parseReportTime } from './report-time.ts'
import { requireService, serviceOfCategories } from '../services.ts'
import { readSubject } from '../subject.ts'
import { DAY_MS } from '../../time.ts'

/** The maximum number of rows of one request. */
export const MAX_ROWS = 1_000

/** Maximum age of a row with a time. */
const MAX_AGE_MS = DAY_MS

const CSV_HEADER = ['ip', 'categories', 'reportdate']
/** Characters that a header can have. */
const MAX_HEADER_CHARS = 200

export type BulkRow = { line: number; report: AttackReport } | { line: number; error: string }

/**
 * Reads JSON lines or, recognized by its header, AbuseIPDB’s CSV. Comments are not stored.
 * @returns every row with its line, as a report or as its problem
 * @throws Fault `invalid_request` when there are no rows, or too many
 */
export function readBulk(text: string, now: number): BulkRow[] {
  const rows = hasCsvHeader(text) ? readCsv(text.replace(BOM, '')).slice(1) : readLines(text)
  if (rows.length === 0) throw new Fault('invalid_request', 'The body contains no reports.')
  if (rows.length > MAX_ROWS)
    throw new Fault(
      'invalid_request',
      `A request can contain up to ${MAX_ROWS} reports. Send the others in further requests.`,
    )
  return rows.map(({ line, fields, text: json }) => {
    try {
      return { line, report: fields ? reportOfFields(fields, now) : reportOfJson(json) }
    } catch (error) {
      return { line, error: messageOf(error) }
    }
  })
}

const BOM = /^\uFEFF/

function hasCsvHeader(text: string): boolean {
  const [first] = readCsv(text.slice(0, MAX_HEADER_CHARS).replace(BOM, ''))
  return CSV_HEADER.every((name, index) => first?.fields?.[index]?.trim().toLowerCase() === name)
}

type Row = { line: number; text: string; fields?: string[] }

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

/** The rows of AbuseIPDB’s CSV, without its header where there is one. */
export function readCsvRows(text: string): { line: number; fields: string[] }[] {
  const rows = readCsv(text.replace(BOM, ''))
  const isHeader = rows[0]?.fields?.[0]?.trim().toLowerCase() === 'ip'
  return rows.slice(isHeader ? 1 : 0).map(({ line, fields = [] }) => ({ line, fields }))
}

/**
 * RFC 4180: quoted fields may hold commas, quotes doubled, and line ends. Blanks around quotes are
 * tolerated.
 */
function readCsv(text: string): Row[] {
  const rows: Row[] = []
  const field = /(?:[ \t]*("(?:[^"]|"")*")[ \t]*|([^,\r\n]*))(,|\r\n|\n|\r|$)/gy
  let [line, fields, start]: [number, string[], number] = [1, [], 1]
  for (let match = field.exec(text); match; match = field.exec(text)) {
    const [whole, quoted, plain = '', end] = match
    fields.push(quoted === undefined ? plain : quoted.slice(1, -1).replaceAll('""', '"'))
    line += whole.split('\n').length - 1
    if (end === ',') continue
    if (fields.some((value) => value !== '')) rows.push({ line: start, text: '', fields })
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
  return { subject: readSubject(ip.trim()), service: service.id, port: null, count: 1 }
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

import { isIP } from 'node:net'
import { parse } from 'csv-parse/sync'
import ipaddr from 'ipaddr.js'
import { DAY_MS } from '../../time.ts'

/** How Microsoft rates mail of an address: up to 10% spam, between, and over 90%. */
export type SndsFilter = 'green' | 'yellow' | 'red'

/** A rate that is known as a range, from 0 to 1; `high` is null without an upper end. */
export type RateRange = { low: number; high: number | null }

/** What SNDS counted of an address on a day. Null: no data, which is not 0. */
export type SndsRow = {
  address: string
  /** The day on which the activity began, as Microsoft counts days. */
  day: string
  rcptCommands: number | null
  dataCommands: number | null
  recipients: number | null
  filter: SndsFilter | null
  /** As Microsoft writes it, such as `< 0.1%`. */
  complaintRate: string | null
  complaints: RateRange | null
  /** Microsoft stopped counting them in 2026. */
  trapHits: number | null
  helo: string | null
  mailFrom: string | null
  comments: string | null
}

/** Addresses that Microsoft blocks or delivers to junk. */
export type SndsBlock = { first: string; last: string; isBlocked: boolean; detail: string }

export type SndsReport<Row> = {
  rows: Row[]
  /** The first lines or records that could not be read, and how many they were. */
  rejected: { line: number; reason: string }[]
  rejectedCount: number
}

/** Lines or records of a report that are read; further ones are rejected. */
export const MAX_SNDS_LINES = 50_000

const TOO_MANY = `a place after the first ${MAX_SNDS_LINES}`
const MAX_TEXT = 300
const MAX_REJECTED = 20

/** Whether a body is a page, such as that of a sign-in, in place of a report. */
export function isPage(contentType: string | null, text: string): boolean {
  return /\bhtml\b/i.test(contentType ?? '') || /^\s*</.test(text.replace(/^\uFEFF/, ''))
}

/**
 * Reads “IP data” of SNDS: CSV with or without a header, or JSON with a record for each address. A
 * line that cannot be read spoils no other.
 * @param askedDay the day of the report, which its rows then have
 */
export function parseSndsData(text: string, askedDay?: string): SndsReport<SndsRow> {
  const report = readReport(text, /^ip(address)? .*filter/, (cells, names) =>
    readDataRow(cells, names, askedDay),
  )
  const merged = Map.groupBy(report.rows, ({ address, day }) => `${address} ${day}`)
  return { ...report, rows: [...merged.values()].map((rows) => rows.reduce(mergeRows)) }
}

/** Reads “IP status” of SNDS, as CSV or JSON: ranges with an abnormal status. */
export function parseSndsStatus(text: string): SndsReport<SndsBlock> {
  const report = readReport(text, /^\w*ip(address)? .*blocked/, readStatusRow)
  return { ...report, rows: report.rows.filter(({ isBlocked, detail }) => isBlocked || detail) }
}

type Names = readonly string[] | null
type Values = readonly (string | undefined)[]
/** Reads the values of a line or record, or says why it cannot be read. */
type ReadRow<Row> = (values: Values, names: Names) => Row | string

function readReport<Row extends object>(
  text: string,
  header: RegExp,
  read: ReadRow<Row>,
): SndsReport<Row> {
  const report: SndsReport<Row> = { rows: [], rejected: [], rejectedCount: 0 }
  const add = (line: number, row: Row | string) => {
    if (typeof row === 'string') {
      report.rejectedCount += 1
      if (report.rejected.length < MAX_REJECTED) report.rejected.push({ line, reason: row })
    } else report.rows.push(row)
  }
  const bare = text.replace(/^\uFEFF/, '')
  if (/^\s*[[{]/.test(bare)) readRecords(bare, read, add)
  else readLines(bare, header, read, add)
  return report
}

type Add<Row> = (line: number, row: Row | string) => void

function readLines<Row>(text: string, header: RegExp, read: ReadRow<Row>, add: Add<Row>): void {
  let names: Names = null
  let isFirst = true
  for (const [index, content] of text.split(/\r\n|\n|\r/).entries()) {
    if (content.trim() === '') continue
    const line = index + 1
    const cells = index < MAX_SNDS_LINES ? splitLine(content) : []
    if (index >= MAX_SNDS_LINES) add(line, TOO_MANY)
    else if (cells === null) add(line, 'a quotation mark is not closed')
    else if (isFirst && header.test(cells.map(nameOf).join(' '))) names = cells.map(nameOf)
    else add(line, read(cells, names))
    isFirst = false
  }
}

/** Reads a list of JSON, or the first list in an object. */
function readRecords<Row>(text: string, read: ReadRow<Row>, add: Add<Row>): void {
  const json = parseJson(text)
  const records: unknown[] | undefined = Array.isArray(json)
    ? json
    : Object.values(json ?? {}).find(Array.isArray)
  if (!records) add(1, json ? 'JSON without a list' : 'JSON that is damaged or ends early')
  for (const [index, record] of (records ?? []).entries()) {
    const line = index + 1
    if (index >= MAX_SNDS_LINES) add(line, TOO_MANY)
    else if (typeof record !== 'object' || record === null) add(line, 'no fields')
    else add(line, read(Object.values(record).map(cellOf), Object.keys(record).map(nameOf)))
  }
}

function parseJson(text: string): object | undefined {
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

function cellOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim()
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

function splitLine(line: string): string[] | null {
  if (!line.includes('"')) return line.split(',').map((cell) => cell.trim())
  try {
    const [cells = []] = parse(line, { relax_column_count: true, relax_quotes: true, trim: true })
    return cells
  } catch {
    return null
  }
}

/** `IP Address` and `ipAddress` are the same column. */
const nameOf = (cell: string) => cell.toLowerCase().replaceAll(/[^a-z]/g, '')

type Cells = {
  address?: string | undefined
  /** Of a range. */
  last?: string | undefined
  begin?: string | undefined
  counts: (string | undefined)[]
  filter?: string | undefined
  rate?: string | undefined
  traps?: string | undefined
  helo?: string | undefined
  mailFrom?: string | undefined
  comments?: string | undefined
}

function readDataRow(values: Values, names: Names, askedDay?: string): SndsRow | string {
  const found = names ? byName(values, names) : byPlace(values)
  const address = addressOf(found.address)
  if (address === null) return `no IP address: ${(found.address ?? '').slice(0, 40)}`
  if (found.last !== undefined && addressOf(found.last) !== address)
    return `a range in place of an IP address: ${found.last.slice(0, 40)}`
  const begin = dayOf(found.begin)
  if (begin === null && (askedDay === undefined || found.begin))
    return `no time of the activity: ${(found.begin ?? '').slice(0, 40)}`
  const day = askedDay ?? begin ?? ''
  // The times have no zone. Those of a day of Microsoft may begin in the day before or after it.
  if (begin !== null && Math.abs(Date.parse(begin) - Date.parse(day)) > DAY_MS)
    return `a time of another day: ${begin}`
  const [rcptCommands, dataCommands, recipients] = found.counts.map(countOf)
  const filter = found.filter?.toLowerCase() ?? ''
  const complaintRate = textOf(found.rate)
  return {
    address,
    day,
    rcptCommands: rcptCommands ?? null,
    dataCommands: dataCommands ?? null,
    recipients: recipients ?? null,
    filter: isFilter(filter) ? filter : null,
    complaintRate,
    complaints: rangeOf(complaintRate ?? ''),
    trapHits: countOf(found.traps),
    helo: textOf(found.helo),
    mailFrom: textOf(found.mailFrom),
    comments: textOf(found.comments),
  }
}

function readStatusRow(values: Values, names: Names): SndsBlock | string {
  const at = names && finderOf(values, names)
  const [first, last, blocked = '', detail] = at
    ? [
        at(FIRST_ADDRESS),
        at(LAST_ADDRESS) ?? at(FIRST_ADDRESS),
        at(/blocked$/),
        at(/^(reason|detail)/),
      ]
    : values
  const [begin, end] = [addressOf(first), addressOf(last)]
  if (begin === null || end === null) return 'no range of addresses'
  if (!/^(yes|no|true|false)$/i.test(blocked)) return `no “blocked”: ${blocked.slice(0, 40)}`
  const isBlocked = /^(yes|true)$/i.test(blocked)
  return { first: begin, last: end, isBlocked, detail: textOf(detail) ?? '' }
}

const FIRST_ADDRESS = /^(begin\w*|first|start\w*)?ip(address)?$/
const LAST_ADDRESS = /^(end\w*|last)ip(address)?$/

function finderOf(values: Values, names: readonly string[]) {
  return (pattern: RegExp): string | undefined => {
    const index = names.findIndex((name) => pattern.test(name))
    return index === -1 ? undefined : values[index]
  }
}

function byName(values: Values, names: readonly string[]): Cells {
  const at = finderOf(values, names)
  return {
    address: at(FIRST_ADDRESS),
    last: at(LAST_ADDRESS),
    begin: at(/^activity/),
    counts: [at(/^rcpt/), at(/^data/), at(/recipients$/)],
    filter: at(/^filter/),
    rate: at(/^complaint/),
    traps: at(/traphits$|^traps$/),
    helo: at(/helo$/),
    mailFrom: at(/mailfrom$|psender$/),
    comments: at(/comments?$/),
  }
}

/**
 * The documented order: address, activity start and end, RCPT, DATA, recipients, filter result,
 * complaint rate, trap period start and end, trap hits, HELO, MAIL FROM, comments. The columns of
 * traps may be missing, and comments may have commas without quotation marks.
 */
function byPlace([address, ...rest]: Values): Cells {
  const begin = rest[0]
  const after = rest.slice(dayOf(rest[1]) === null ? 1 : 2)
  const [rcpt, data, recipients, filter, rate, ...last] = after
  const trapColumns = Math.min(3, Math.max(0, last.length - 3))
  const [helo, mailFrom, ...comments] = last.slice(trapColumns)
  const samples = last.length >= 3 ? { helo, mailFrom, comments: comments.join(', ') } : {}
  return {
    address,
    begin,
    counts: [rcpt, data, recipients],
    filter,
    rate,
    traps: last[trapColumns - 1],
    ...samples,
  }
}

function addressOf(text: string | undefined): string | null {
  return text !== undefined && isIP(text) !== 0 && !text.includes('%')
    ? ipaddr.parse(text).toString()
    : null
}

const DATES = [
  /^(?<year>\d{4})-(?<month>\d\d?)-(?<day>\d\d?)(?!\d)/,
  /^(?<month>\d\d?)\/(?<day>\d\d?)\/(?<year>\d{4})(?!\d)/,
]

/** `12/31/2026 7:00 PM` or `2026-12-31 19:00`: its day, in the zone of Microsoft. */
function dayOf(text = ''): string | null {
  const groups = DATES.map((date) => date.exec(text)?.groups).find(Boolean)
  if (!groups) return null
  const [year, month, day] = [groups['year'], groups['month'], groups['day']].map(Number)
  const date = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day))
  // Otherwise the 30th of February would be a day in March.
  const isDay = date.getUTCMonth() === (month ?? 0) - 1 && date.getUTCDate() === day
  return isDay ? date.toISOString().slice(0, 10) : null
}

function countOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}

function textOf(text: string | undefined): string | null {
  const bare = (text ?? '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT)
  return bare === '' || /^(none|n\/a|-)$/i.test(bare) ? null : bare
}

const isFilter = (text: string): text is SndsFilter => ['green', 'yellow', 'red'].includes(text)

/** The range that a rate means; null for a text that is none. `< 0.1%` is not 0.1%. */
export function rangeOf(text: string): RateRange | null {
  const number = String.raw`(\d{1,6}(?:\.\d{1,6})?)`
  const single = new RegExp(String.raw`^([<>]?)=?\s*${number}\s*%$`).exec(text)
  if (single) {
    const rate = Number(single[2]) / 100
    if (single[1] === '<') return { low: 0, high: rate }
    return { low: rate, high: single[1] === '>' ? null : rate }
  }
  const both = new RegExp(String.raw`^${number}\s*%?\s*[-–]\s*${number}\s*%$`).exec(text)
  return both ? { low: Number(both[1]) / 100, high: Number(both[2]) / 100 } : null
}

const SEVERITY = ['green', 'yellow', 'red']

/** Two activities of an address on one day: counts are added, and the worse rating counts. */
function mergeRows(one: SndsRow, other: SndsRow): SndsRow {
  const sum = (a: number | null, b: number | null) => (a === null ? b : a + (b ?? 0))
  const worse = (row: SndsRow) => row.complaints?.low ?? -1
  const { complaintRate, complaints } = worse(other) > worse(one) ? other : one
  return {
    ...one,
    rcptCommands: sum(one.rcptCommands, other.rcptCommands),
    dataCommands: sum(one.dataCommands, other.dataCommands),
    recipients: sum(one.recipients, other.recipients),
    filter:
      SEVERITY.indexOf(other.filter ?? '') > SEVERITY.indexOf(one.filter ?? '')
        ? other.filter
        : one.filter,
    complaintRate,
    complaints,
    trapHits: sum(one.trapHits, other.trapHits),
  }
}

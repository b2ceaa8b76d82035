import { parse } from 'csv-parse/sync'
import ipaddr from 'ipaddr.js'

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

export type SndsReport<Row> = { rows: Row[]; rejected: { line: number; reason: string }[] }

/** Lines of a report that are read; further ones are rejected. */
export const MAX_SNDS_LINES = 20_000

const MAX_TEXT = 300
const MAX_REJECTED = 20

/** Whether a body is a page, such as that of a sign-in, in place of a report. */
export function isPage(contentType: string | null, text: string): boolean {
  return /\bhtml\b/i.test(contentType ?? '') || /^\s*</.test(text.replace(/^\uFEFF/, ''))
}

/**
 * Reads the CSV of “IP data” of SNDS, with or without a header. A line that cannot be read spoils no
 * other.
 */
export function parseSndsData(text: string): SndsReport<SndsRow> {
  const report = readLines(text, /^ip(address)? .*filter/, readDataRow)
  const merged = Map.groupBy(report.rows, ({ address, day }) => `${address} ${day}`)
  return { ...report, rows: [...merged.values()].map((rows) => rows.reduce(mergeRows)) }
}

/** Reads the CSV of “IP status” of SNDS: ranges with an abnormal status. */
export function parseSndsStatus(text: string): SndsReport<SndsBlock> {
  return readLines(text, /^\w*ip(address)? .*blocked/, (cells) => {
    const [first, last, blocked = '', detail = ''] = cells
    const [begin, end] = [addressOf(first), addressOf(last)]
    if (begin === null || end === null) return 'no range of addresses'
    if (!/^(yes|no|true|false)$/i.test(blocked)) return `no “blocked”: ${blocked.slice(0, 40)}`
    const isBlocked = /^(yes|true)$/i.test(blocked)
    return { first: begin, last: end, isBlocked, detail: detail.slice(0, MAX_TEXT) }
  })
}

type Names = readonly string[] | null

function readLines<Row extends object>(
  text: string,
  header: RegExp,
  read: (cells: string[], names: Names) => Row | string,
): SndsReport<Row> {
  const report: SndsReport<Row> = { rows: [], rejected: [] }
  const reject = (line: number, reason: string) => {
    if (report.rejected.length < MAX_REJECTED) report.rejected.push({ line, reason })
  }
  let names: Names = null
  for (const [index, content] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    if (content.trim() === '') continue
    if (index >= MAX_SNDS_LINES) {
      reject(index + 1, `only ${MAX_SNDS_LINES} lines are read`)
      break
    }
    const cells = splitLine(content)
    if (cells === null) reject(index + 1, 'a quotation mark is not closed')
    else if (report.rows.length === 0 && header.test(cells.map(nameOf).join(' ')))
      names = cells.map(nameOf)
    else {
      const row = read(cells, names)
      if (typeof row === 'string') reject(index + 1, row)
      else report.rows.push(row)
    }
  }
  return report
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
  begin?: string | undefined
  counts: (string | undefined)[]
  filter?: string | undefined
  rate?: string | undefined
  traps?: string | undefined
  helo?: string | undefined
  mailFrom?: string | undefined
  comments?: string | undefined
}

function readDataRow(cells: string[], names: Names): SndsRow | string {
  const found = names ? byName(cells, names) : byPlace(cells)
  const address = addressOf(found.address)
  if (address === null) return `no IP address: ${(found.address ?? '').slice(0, 40)}`
  const day = dayOf(found.begin)
  if (day === null) return `no time of the activity: ${(found.begin ?? '').slice(0, 40)}`
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

function byName(cells: readonly string[], names: readonly string[]): Cells {
  const at = (pattern: RegExp) => {
    const index = names.findIndex((name) => pattern.test(name))
    return index === -1 ? undefined : cells[index]
  }
  return {
    address: at(/^ip(address)?$/),
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
 * traps may be missing.
 */
function byPlace([address, ...rest]: string[]): Cells {
  const begin = rest[0]
  const after = rest.slice(dayOf(rest[1]) === null ? 1 : 2)
  const [rcpt, data, recipients, filter, rate, ...last] = after
  const [helo, mailFrom, comments] = last.slice(-3)
  const hasTraps = last.length > 3
  const samples = last.length >= 3 ? { helo, mailFrom, comments } : {}
  return {
    address,
    begin,
    counts: [rcpt, data, recipients],
    filter,
    rate,
    traps: hasTraps ? last.at(-4) : undefined,
    ...samples,
  }
}

function addressOf(text: string | undefined): string | null {
  return text !== undefined && ipaddr.isValid(text) && !text.includes('%')
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

export type CsvValue = string | number | boolean | null

/** Tells spreadsheets that the file is UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Text that a spreadsheet would run as a formula, unlike a negative number or a dash alone. */
const FORMULA = /^(?:[=+@\t\r\n]|-(?!(?:\d+(?:\.\d+)?)?$))/

/**
 * A CSV file (RFC 4180) for spreadsheets: UTF-8 with a byte order mark, and an apostrophe before
 * texts that would be formulas. Numbers stay numbers.
 */
export function csvText(titles: string[], rows: CsvValue[][]): string {
  return BYTE_ORDER_MARK + [titles, ...rows].map(csvLine).join('')
}

function csvLine(values: CsvValue[]): string {
  return `${values.map(csvField).join(',')}\r\n`
}

/** One field, quoted where needed. */
export function csvField(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

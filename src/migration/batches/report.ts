import type { MailboxRow } from './mailboxes/batch-mailboxes.sql.ts'

/** The columns of the report of a batch. */
const COLUMNS: [title: string, valueOf: (row: MailboxRow) => string | number | null][] = [
  ['line', ({ line }) => line],
  ['state', ({ state }) => state],
  ['source_host', ({ source }) => source.host ?? null],
  ['source_user', ({ source }) => source.user ?? null],
  ['destination_host', ({ destination }) => destination.host ?? null],
  ['destination_user', ({ destination }) => destination.user ?? null],
  ['messages_done', ({ messagesDone }) => messagesDone],
  ['messages_total', ({ messagesTotal }) => messagesTotal],
  ['bytes_done', ({ bytesDone }) => bytesDone],
  ['bytes_total', ({ bytesTotal }) => bytesTotal],
  ['errors', ({ errorCount }) => errorCount],
  ['passes', ({ passes }) => passes],
  ['last_sync', ({ syncedAt }) => syncedAt?.toISOString() ?? null],
  ['problem', ({ problem }) => problem],
  ['message', ({ message, warning }) => message ?? warning],
]

/** Renders the mailboxes of a batch as CSV (RFC 4180), without passwords, part by part. */
export async function* renderReport(
  parts: AsyncIterable<readonly MailboxRow[]>,
): AsyncGenerator<string> {
  yield lineOf(COLUMNS.map(([title]) => title))
  for await (const rows of parts)
    yield rows.map((row) => lineOf(COLUMNS.map(([, valueOf]) => cell(valueOf(row))))).join('')
}

const lineOf = (cells: string[]) => `${cells.join(',')}\r\n`

/** A spreadsheet would run a text that begins like a formula, unlike a negative number or a dash. */
const FORMULA = /^(?:[=+@\t\r\n]|-(?!(?:\d+(?:\.\d+)?)?$))/

function cell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '')
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

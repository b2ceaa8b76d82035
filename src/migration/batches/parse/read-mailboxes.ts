import { Fault } from '../../../errors.ts'
import { BATCH_LIMITS } from '../limits.ts'
import type { Field } from './columns.ts'
import { recognize, type Format, type Recognized } from './panel-formats.ts'
import { readSide, type PartialAddress, type SideDefaults } from './read-side.ts'
import { contentLines, findDelimiter, mayBeComment, splitLine, splitLines } from './split-lines.ts'

/** A line of a file: a mailbox and where it goes. `problem` says why it is invalid. */
export type ReadMailbox = {
  line: number
  source: PartialAddress
  destination: PartialAddress
  passwords: { source: string; destination: string }
  problem: string | null
  warning: string | null
}

export type ReadOptions = {
  /** The field of each column, in place of what the header says. */
  columns?: (Field | null)[] | undefined
  /** Whether the first line has the names of the columns; by default it is detected. */
  hasHeader?: boolean | undefined
  source?: SideDefaults | undefined
  destination?: SideDefaults | undefined
  /** Uses the source’s password at the destination where a line has none. */
  samePassword?: boolean | undefined
}

export type ReadFile = {
  format: Format
  delimiter: string
  /** The first line, if it has the names of the columns. */
  header: string[] | null
  columns: (Field | null)[]
  /** The cells of the first line of data; those that may be passwords are masked. */
  sample: string[]
  mailboxes: ReadMailbox[]
}

/**
 * Reads a list of mailboxes in any known format. A line with an error never affects the others.
 * @throws Fault `invalid_request` when it has no or too many lines
 */
export function readMailboxes(text: string, options: ReadOptions = {}): ReadFile {
  const { lines, named } = contentLines(text)
  const content = lines.filter((line) => !mayBeComment(line))
  const [firstLine] = content
  if (firstLine === undefined) throw new Fault('invalid_request', 'The file has no lines.')
  if (content.length > BATCH_LIMITS.maxMailboxes + 1)
    throw new Fault(
      'invalid_request',
      `The file has more than ${BATCH_LIMITS.maxMailboxes.toLocaleString('en-US')} lines. Split it.`,
    )
  const delimiter = named ?? findDelimiter(content)
  const cellsOfFirst = (isQuoted: boolean) =>
    splitLine(firstLine, { delimiter, isQuoted, columns: [] }).cells
  const plain = cellsOfFirst(false) ?? []
  const first = cellsOfFirst(true) ?? plain
  const found = withOptions(recognize(first, plain), first, options)
  const split = splitLines(lines, { delimiter, ...found })
  const rows = found.hasHeader ? split.slice(1) : split
  const mailboxes = rows.map(({ line, cells, problem }): ReadMailbox => {
    if (cells === null) return { ...blank(line), problem }
    return readLine(line, cells, found, options)
  })
  compareMailboxes(mailboxes)
  const header = found.hasHeader ? first : null
  const sample = (rows[0]?.cells ?? []).map((cell, at) => masked(cell, found.columns[at] ?? null))
  return { format: found.format, delimiter, header, sample, columns: found.columns, mailboxes }
}

/** What no password looks like: an address, a host, a number, the security of a connection. */
const NO_PASSWORD =
  /^[^\s@]+@[^\s@]+\.[^\s@]+$|^[a-z0-9-]+(?:\.[a-z0-9-]+)+$|^\d{1,5}$|^(?:ssl|tls|starttls)$/i

function masked(cell: string, field: Field | null): string {
  const isPassword = field?.toLowerCase().endsWith('password')
  const isShown = field === null ? NO_PASSWORD.test(cell.trim()) : !isPassword
  return isShown || cell === '' ? cell.slice(0, 100) : '••••••'
}

/** Columns that a person mapped replace those that were recognized. */
function withOptions(
  found: Recognized,
  first: readonly string[],
  { columns, hasHeader }: ReadOptions,
): Recognized {
  const mapped = columns && {
    format: 'mapped' as const,
    columns: first.map((_, at) => columns[at] ?? null),
  }
  return { ...found, ...mapped, ...(hasHeader !== undefined && { hasHeader }) }
}

function blank(line: number): ReadMailbox {
  const passwords = { source: '', destination: '' }
  return { line, source: {}, destination: {}, passwords, problem: null, warning: null }
}

function readLine(
  line: number,
  cells: readonly string[],
  { format, columns }: Recognized,
  options: ReadOptions,
): ReadMailbox {
  const cellOf = (field: Field) => {
    const at = columns.indexOf(field)
    return at === -1 ? '' : (cells[at] ?? '')
  }
  const none = { user: '', password: '' }
  const source = readSide('source', cellOf, options.source ?? {}, none)
  const same = options.samePassword ? source.password : ''
  const fallback = { user: source.address.user ?? '', password: same }
  const destination = readSide('destination', cellOf, options.destination ?? {}, fallback)
  const problems = [...source.problems, ...destination.problems]
  const passwords = { source: source.password, destination: destination.password }
  const warnings = [
    format === 'imapsync' && cells.slice(6).some((cell) => cell.trim() !== '')
      ? 'Options of imapsync in this line are ignored.'
      : null,
    Object.values(passwords).some((password) => password !== password.trim())
      ? 'A password begins or ends with a space.'
      : null,
  ]
  return {
    line,
    source: source.address,
    destination: destination.address,
    passwords,
    problem: problems.length > 0 ? problems.join(' ') : null,
    warning: joined(...warnings),
  }
}

/** Identifies an account: hosts and users are compared without case. */
export function accountKey({ host = '', user = '' }: PartialAddress): string {
  return `${host.toLowerCase()} ${user.toLowerCase()}`
}

/** A mailbox must not move twice; that two move into one may be intended. */
function compareMailboxes(mailboxes: ReadMailbox[]): void {
  const sources = new Map<string, number>()
  const destinations = new Map<string, number>()
  for (const mailbox of mailboxes) {
    if (mailbox.problem !== null) continue
    const [source, destination] = [accountKey(mailbox.source), accountKey(mailbox.destination)]
    const before = sources.get(source)
    if (before !== undefined) mailbox.problem = `The source is the same as in line ${before}.`
    else if (source === destination && mailbox.source.port === mailbox.destination.port)
      mailbox.problem = 'The source and the destination are the same mailbox.'
    if (mailbox.problem !== null) continue
    sources.set(source, mailbox.line)
    const shared = destinations.get(destination)
    if (shared === undefined) destinations.set(destination, mailbox.line)
    else
      mailbox.warning = joined(mailbox.warning, `The destination is the same as in line ${shared}.`)
  }
}

export function joined(...sentences: (string | null)[]): string | null {
  return sentences.filter((sentence) => sentence !== null).join(' ') || null
}

import { countNames, fieldsByHeader, normalizeHeader, type Field } from './columns.ts'

/** The formats of lists of mailboxes. `headers`: any names that are understood. */
export const FORMATS = [
  'imapsync',
  'microsoft',
  'migrationwiz',
  'nethserver',
  'headers',
  'mapped',
  'unknown',
] as const
export type Format = (typeof FORMATS)[number]

/**
 * A recognized file: its format, the field of each column, whether the first line has their names, and
 * whether cells can be in quotation marks.
 */
export type Recognized = {
  format: Format
  columns: (Field | null)[]
  hasHeader: boolean
  isQuoted: boolean
}

/** Formats whose columns have names that mean something else elsewhere. */
const BY_HEADER: { format: Format; header: string[]; columns: (Field | null)[] }[] = [
  {
    format: 'microsoft',
    header: ['emailaddress', 'username', 'password'],
    columns: ['destinationUser', 'sourceUser', 'sourcePassword'],
  },
  {
    format: 'nethserver',
    header: [
      'localusername',
      'remoteusername',
      'remotepassword',
      'remotehostname',
      'remoteport',
      'security',
    ],
    columns: [
      'destinationUser',
      'sourceUser',
      'sourcePassword',
      'sourceHost',
      'sourcePort',
      'sourceSecurity',
    ],
  },
]

/** The columns of imapsync’s files, which have no header and no quotation marks. */
const IMAPSYNC_COLUMNS: (Field | null)[] = [
  'sourceHost',
  'sourceUser',
  'sourcePassword',
  'destinationHost',
  'destinationUser',
  'destinationPassword',
]

/** Names of hosts can have underscores, although those of the web cannot. */
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)(?:\.[a-z0-9_-]+)*$|^\[?[0-9a-f:.]+\]?$/i

/**
 * Recognizes the format of a file by the cells of its first line.
 * @param plain the cells without regard to quotation marks, which imapsync’s files do not have
 */
export function recognize(first: readonly string[], plain: readonly string[]): Recognized {
  const found = recognizeCells(plain)
  return found.format === 'imapsync' ? found : { ...recognizeCells(first), isQuoted: true }
}

function recognizeCells(first: readonly string[]): Recognized {
  const cells = first.map((cell) => cell.trim())
  const columns = fieldsByHeader(cells)
  // One name alone may be a password that looks like it.
  const isHeader = cells.length > 0 && countNames(cells) >= Math.min(2, cells.length)
  const found = (format: Format, of: (Field | null)[], hasHeader: boolean): Recognized => ({
    format,
    columns: padded(of, cells),
    hasHeader,
    isQuoted: false,
  })
  if (isImapsync(cells) && (!isHeader || cells[0]?.includes('.')))
    return found('imapsync', IMAPSYNC_COLUMNS, false)
  const names = cells.map(normalizeHeader)
  const known = BY_HEADER.find(({ header }) => header.every((name, at) => names[at] === name))
  if (known) return found(known.format, known.columns, true)
  if (!isHeader) return found('unknown', [], false)
  const isWiz = names.includes('sourceemail') && names.includes('destinationemail')
  return found(isWiz ? 'migrationwiz' : 'headers', columns, true)
}

function isImapsync(cells: readonly string[]): boolean {
  const [host1 = '', user1, , host2 = '', user2] = cells
  return cells.length >= 6 && HOST.test(host1) && HOST.test(host2) && !!user1 && !!user2
}

function padded(columns: (Field | null)[], cells: readonly string[]): (Field | null)[] {
  return cells.map((_cell, at) => columns[at] ?? null)
}

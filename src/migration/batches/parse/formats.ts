import { fieldsByHeader, normalizeHeader, type Field } from './columns.ts'

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

/** A recognized file: its format, the field of each column, and whether the first line is data. */
export type Recognized = { format: Format; columns: (Field | null)[]; hasHeader: boolean }

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

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\.[a-z0-9-]+)*$|^\[?[0-9a-f:.]+\]?$/i

/** Recognizes the format of a file by its first line. */
export function recognize(first: readonly string[]): Recognized {
  const cells = first.map((cell) => cell.trim())
  const columns = fieldsByHeader(cells)
  // One name alone may be a password that looks like it.
  const isHeader = columns.filter((field) => field !== null).length >= Math.min(2, cells.length)
  if (isImapsync(cells) && (!isHeader || cells[0]?.includes('.')))
    return { format: 'imapsync', columns: padded(IMAPSYNC_COLUMNS, cells), hasHeader: false }
  const names = cells.map(normalizeHeader)
  const known = BY_HEADER.find(({ header }) => header.every((name, at) => names[at] === name))
  if (known) return { format: known.format, columns: padded(known.columns, cells), hasHeader: true }
  if (!isHeader) return { format: 'unknown', columns: cells.map(() => null), hasHeader: false }
  const isWiz = names.includes('sourceemail') && names.includes('destinationemail')
  return { format: isWiz ? 'migrationwiz' : 'headers', columns, hasHeader: true }
}

function isImapsync(cells: readonly string[]): boolean {
  const [host1 = '', user1, , host2 = '', user2] = cells
  return cells.length >= 6 && HOST.test(host1) && HOST.test(host2) && !!user1 && !!user2
}

function padded(columns: (Field | null)[], cells: readonly string[]): (Field | null)[] {
  return cells.map((_cell, at) => columns[at] ?? null)
}

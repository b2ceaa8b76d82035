import { hash } from 'node:crypto'

/** A message as it was found in a file, before it has a UID. */
export type FoundMessage = {
  /** Identifies it by its content, whatever its flags and its file are. */
  key: string
  size: number
  flags: string[]
  /** Null where neither the file nor its header has one. */
  date: string | null
  messageId: string | null
  /** The X-Gmail-Labels of an export by Google Takeout. */
  labels?: string | null
  read: () => Iterable<Buffer>
  fill: ((target: Buffer) => void) | null
}

/** A digest for keys. */
export function digestOf(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64url').slice(0, 16)
}

/**
 * A file, folder, link or message that is left out. `isProblem`: it has mail, or may have some.
 */
export type LeftOut = { path: string; reason: string; count: number; isProblem: boolean }
export type Leave = (left: LeftOut) => void

const collator = new Intl.Collator('en', { numeric: true })

/** Orders names with numbers by these: `9` comes before `10`. Others are ordered by their bytes. */
export function byName({ name: a }: { name: string }, { name: b }: { name: string }): number {
  return collator.compare(a, b) || (a < b ? -1 : 1)
}

/** What an error of the file system says, without the path. */
export function reasonOf(error: unknown): string {
  const { code, message, path = '' } = error as NodeJS.ErrnoException
  // Node reads names as UTF-8 only.
  if (code === 'ENOENT' && path.includes('\uFFFD'))
    return 'Its name is not UTF-8. Rename it, such as with convmv.'
  const known: Record<string, string> = {
    EACCES: 'Permission denied.',
    EPERM: 'Permission denied.',
    ENOENT: 'It no longer exists.',
    ELOOP: 'A link that leads to itself.',
    EIO: 'The disk could not read it.',
    ENOSPC: 'The disk is full.',
    EDQUOT: 'The quota of the disk is used up.',
    ENAMETOOLONG: 'The file system cannot have a name that long.',
    EILSEQ: 'The file system cannot have this name.',
    EINVAL: 'The file system cannot have this name.',
    EROFS: 'The file system is read-only.',
    EEXIST: 'A file with this name exists.',
    ENOTDIR: 'A file is where a folder should be.',
    EISDIR: 'A folder is where a file should be.',
  }
  return (code && known[code]) ?? message
}

import { createHash } from 'node:crypto'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'

/**
 * The folder naming of one side: the delimiter of levels, and the namespace prefix of all folders
 * except INBOX. Paths as text, not bytes.
 */
export type Hierarchy = { delimiter: string | null; prefix: string }

/** A folder of the source. `specialUse` is its RFC 6154 attribute, such as `\Sent`. */
export type SourceFolder = { path: string; specialUse?: string | null }

/**
 * A folder of the source and its destination. `bytes` is null where it would cost too much to find
 * out.
 */
export type FolderRoute = { folder: Folder; mapped: MappedFolder; bytes: number | null }

export type MappingOptions = {
  /** Parent of all folders, with slashes: `P` makes INBOX `P/INBOX`. */
  prefix: string
  /** Destination path, with the destination’s delimiter, by source path. Used as given. */
  folderMap: Readonly<Record<string, string>>
  /**
   * The destination’s special-use folders (`\Sent`, `\Trash` …). Folders of the same use are copied
   * to them; empty to ignore special use.
   */
  specialUse: ReadonlyMap<string, string>
  /** Changes the path of a folder that the other options do not map. */
  renameFolder?: (path: string) => string
}

/**
 * The destination of a folder. `altered` tells the report that the name had to change; `inTheWay`
 * names the destination that another folder already has, if that was the reason.
 */
export type MappedFolder = {
  source: string
  destination: string
  altered: boolean
  inTheWay: string | null
}

const STAND_IN = '_'

/** Servers that store folders as files reject longer names. */
const MAX_NAME_PART_CHARS = 200

/**
 * Maps every folder to its destination: never two to the same one unless the folder map says so,
 * never an empty level, INBOX to INBOX (or `prefix/INBOX`). The destination’s delimiter and control
 * characters in names are replaced.
 */
export function mapFolders(
  sources: readonly SourceFolder[],
  from: Hierarchy,
  to: Hierarchy,
  options: MappingOptions,
): MappedFolder[] {
  const taken = new Set<string>(Object.values(options.folderMap))
  return sources.map((folder) => {
    const { path } = folder
    const told = Object.hasOwn(options.folderMap, path) ? options.folderMap[path] : undefined
    if (told !== undefined)
      return { source: path, destination: told, altered: false, inTheWay: null }
    const same =
      options.prefix === '' && folder.specialUse
        ? options.specialUse.get(folder.specialUse)
        : undefined
    const parts = splitPath(path, from)
    const placed = placeAt(
      parts.map((part) => fit(part, to)),
      to,
      options.prefix,
    )
    const natural = same ?? options.renameFolder?.(placed) ?? placed
    const destination = uniqueName(natural, taken)
    taken.add(destination)
    const isAsWas = destination === natural && parts.every((part) => fit(part, to) === part)
    return {
      source: path,
      destination,
      altered: !isAsWas,
      inTheWay: destination === natural ? null : natural,
    }
  })
}

/**
 * Simpler names to try when the destination rejects one, the closest first: without each character
 * that some server forbids, without all of them, in ASCII, shortened, and at last without levels,
 * for servers whose folders cannot have children.
 */
export function simplerNames(
  destination: string,
  to: Hierarchy,
  taken: ReadonlySet<string>,
): string[] {
  const parts = splitPath(destination, to)
  const [bare, ascii] = [
    parts.map(plain),
    parts.map((part) => plain(part.replace(/[^\x20-\x7e]+/g, STAND_IN))),
  ]
  const close = FORBIDDEN.map((pattern) => parts.map((part) => part.replace(pattern, STAND_IN)))
  const all = parts.map((part) =>
    FORBIDDEN.reduce((rest, pattern) => rest.replace(pattern, STAND_IN), part),
  )
  const names = [...close, all, bare, ascii].map((levels) => placeAt(levels, to, ''))
  const flat = [bare, ascii].map((levels) => placeAt([levels.join(STAND_IN)], to, ''))
  return [...new Set([...names, ...flat])]
    .filter((name) => name !== destination)
    .map((name) => uniqueName(name, taken))
}

/** Characters that servers reject in names. */
const FORBIDDEN = [
  // Maildir++ uses dots as delimiter.
  /\./g,
  // Dovecot rejects names that begin like a home directory.
  /^~/g,
  // Cyrus rejects these.
  /[{}%"\\|<>`!;]/g,
  // Courier cannot read the surrogate pairs of modified UTF-7 (RFC 3501, 5.1.3), which emoji need.
  /[\u{10000}-\u{10ffff}]/gu,
]

/**
 * Splits a path below the namespace’s prefix into levels. INBOX is written in capitals, which every
 * server accepts.
 */
export function splitPath(path: string, { delimiter, prefix }: Hierarchy): string[] {
  const bare =
    prefix !== '' && path.startsWith(prefix) && path !== prefix ? path.slice(prefix.length) : path
  const [first = '', ...rest] = delimiter ? bare.split(delimiter) : [bare]
  return [isInbox(first) ? 'INBOX' : first, ...rest]
}

/** Joins levels to a path of the destination. */
function placeAt(
  parts: readonly string[],
  { delimiter, prefix }: Hierarchy,
  under: string,
): string {
  const to = { delimiter, prefix }
  const above = under.split('/').filter((part) => part !== '')
  const all = [...above.map((part) => fit(part, to)), ...parts]
  const inboxPrefix = delimiter !== null && isInbox(prefix.slice(0, -delimiter.length))
  // Under a namespace below INBOX, a folder that was below INBOX already is not nested twice;
  // except one named INBOX, which would become INBOX itself.
  const levels =
    inboxPrefix && isInbox(all[0]) && all.length > 1 && !isInbox(all[1]) ? all.slice(1) : all
  if (levels.length === 1 && isInbox(levels[0]) && (above.length === 0 || levels === all))
    return 'INBOX'
  const start = isInbox(levels[0]) && !inboxPrefix ? '' : prefix
  return start + levels.join(delimiter ?? STAND_IN)
}

export function isInbox(name: string | undefined): boolean {
  return name?.toUpperCase() === 'INBOX'
}

/** Replaces characters of a level that the destination cannot have. */
function fit(part: string, { delimiter }: Hierarchy): string {
  const free = delimiter ? part.replaceAll(delimiter, STAND_IN) : part
  const clean = free.replace(/\p{Cc}/gu, STAND_IN)
  return clean === '' ? STAND_IN : shorten(clean)
}

/** Removes characters that servers with folders as files reject, and wildcards of LIST. */
function plain(part: string): string {
  const clean = part
    .replace(/[./\\~*%"'&<>|:?{}`!;]|[\u{10000}-\u{10ffff}]/gu, STAND_IN)
    .replace(/^[ #_-]+|[ ]+$/g, STAND_IN)
  return shorten(clean === '' ? STAND_IN : clean, 60)
}

/** Shortens a long name. A hash at its end distinguishes names with the same beginning. */
function shorten(part: string, longest = MAX_NAME_PART_CHARS): string {
  if (Buffer.byteLength(part) <= longest) return part
  const end = `${STAND_IN}${createHash('sha256').update(part).digest('hex').slice(0, 8)}`
  let kept = ''
  for (const character of part) {
    if (Buffer.byteLength(kept + character) + end.length > longest) break
    kept += character
  }
  return kept + end
}

/** Returns the name, with a number appended when another folder has it. */
export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let candidate = name
  for (let number = 2; taken.has(candidate); number++) candidate = `${name}${STAND_IN}${number}`
  return candidate
}

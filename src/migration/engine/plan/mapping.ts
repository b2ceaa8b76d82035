import { createHash } from 'node:crypto'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import { encodeMailbox } from '../../../net/imap/folders/mailbox-name.ts'
import { transliterate } from './transliterate.ts'

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
   * The destination’s special-use folders (`\Sent`, `\Trash` …), in its order. A folder is copied to
   * the one of the same use: that with its own name, otherwise the first. Empty to ignore special
   * use.
   */
  specialUse: ReadonlyMap<string, readonly string[]>
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
  const placed = new Map(sources.map(({ path }) => [path, place(path, from, to, options.prefix)]))
  const sameUse = options.prefix === '' ? matchSpecialUses(sources, placed, options) : new Map()
  return sources.map(({ path }) => {
    const told = Object.hasOwn(options.folderMap, path) ? options.folderMap[path] : undefined
    if (told !== undefined)
      return { source: path, destination: told, altered: false, inTheWay: null }
    const own = placed.get(path) ?? ''
    const natural = sameUse.get(path) ?? options.renameFolder?.(own) ?? own
    const destination = uniqueName(natural, taken)
    taken.add(destination)
    const isAsWas =
      destination === natural && splitPath(path, from).every((part) => fit(part, to) === part)
    return {
      source: path,
      destination,
      altered: !isAsWas,
      inTheWay: destination === natural ? null : natural,
    }
  })
}

function place(path: string, from: Hierarchy, to: Hierarchy, prefix: string): string {
  return placeAt(
    splitPath(path, from).map((part) => fit(part, to)),
    to,
    prefix,
  )
}

/**
 * Finds the destination of folders with a special use. Each goes to one source folder only: servers
 * may have several of a use (Dovecot’s defaults have “Sent” and “Sent Messages”).
 * @param placed where each folder would go by its name
 */
function matchSpecialUses(
  sources: readonly SourceFolder[],
  placed: ReadonlyMap<string, string>,
  { specialUse, folderMap }: MappingOptions,
): Map<string, string> {
  const found = new Map<string, string>()
  const wanting = sources.flatMap(({ path, specialUse: use }) => {
    const candidates = (use && specialUse.get(use)) || []
    return Object.hasOwn(folderMap, path) || candidates.length === 0 ? [] : [{ path, candidates }]
  })
  for (const { path, candidates } of wanting) {
    const own = placed.get(path) ?? ''
    const same =
      candidates.find((name) => name === own) ?? candidates.find((name) => isSameName(name, own))
    if (same !== undefined && ![...found.values()].includes(same)) found.set(path, same)
  }
  for (const { path, candidates } of wanting) {
    if (found.has(path)) continue
    const used = new Set(found.values())
    const free = candidates.find((name) => !used.has(name))
    if (free !== undefined) found.set(path, free)
  }
  return found
}

/** Whether a server that ignores case, or composes characters, has one folder for both names. */
export function isSameName(a: string, b: string): boolean {
  return a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase()
}

/** Lengths of a whole path, in bytes, that are tried where the destination rejects a longer one. */
const PATH_LENGTHS = [200, 100, 40]

/** Names to try for one folder. */
const MAX_SIMPLER_NAMES = 40

/**
 * Simpler names to try when the destination rejects one, the closest first: without each character
 * that some server forbids, without all of them, with a suffix, shortened as a whole, in ASCII, and
 * at last without levels, for servers whose folders cannot have children.
 * @param existing folders of the destination, whose names it accepts
 */
export function simplerNames(
  destination: string,
  to: Hierarchy,
  taken: ReadonlySet<string>,
  existing: Pick<ReadonlySet<string>, 'has'> = new Set<string>(),
): string[] {
  const parts = splitPath(destination, to)
  const isAccepted = (levels: readonly string[]) => existing.has(placeAt(levels, to, ''))
  const close = FORBIDDEN.map((pattern) => parts.map((part) => part.replace(pattern, STAND_IN)))
  const all = parts.map((part) =>
    FORBIDDEN.reduce((rest, pattern) => rest.replace(pattern, STAND_IN), part),
  )
  const bare = parts.map(plain)
  const latin = parts.map((part) => plain(transliterate(part)))
  const ascii = parts.map((part) => plain(transliterate(part).replace(/[^\x20-\x7e]+/g, STAND_IN)))
  const simple = [
    ...close,
    all,
    ...withSuffix(all, isAccepted),
    bare,
    latin,
    ascii,
    ...withSuffix(ascii, isAccepted),
  ]
  const short = [all, bare, ascii].flatMap(shortenedPaths)
  // A name that is too long is more likely to be rejected for that.
  const isLong = encodeMailbox(destination).length > MAX_NAME_PART_CHARS
  const inOrder = isLong
    ? [...close, all, latin, ascii, ...short, ...simple]
    : [...simple, ...short]
  const flat = [bare, ascii].map((levels) => [shorten(levels.join(STAND_IN))])
  const names = [...inOrder, ...flat].map((levels) => placeAt(levels, to, ''))
  return [...new Set(names)]
    .filter((name) => name !== destination)
    .slice(0, MAX_SIMPLER_NAMES)
    .map((name) => uniqueName(name, taken))
}

/**
 * The path with a suffix at one level, the last first: servers reserve names, at any level (Dovecot
 * `cur`, `dbox-Mails`; Gmail `Muted`).
 */
function withSuffix(
  parts: readonly string[],
  isAccepted: (levels: readonly string[]) => boolean,
): string[][] {
  return parts
    .map((_, at) => parts.map((part, level) => (level === at ? part + STAND_IN : part)))
    .filter((_, at) => (at > 0 || !isInbox(parts[0])) && !isAccepted(parts.slice(0, at + 1)))
    .toReversed()
}

/** The path in several lengths. A hash at its end distinguishes paths with the same beginning. */
function shortenedPaths(parts: readonly string[]): string[][] {
  const bytes = byteLength(parts.join('/'))
  return PATH_LENGTHS.filter((length) => length < bytes).map((length) => {
    const share = Math.max(1, Math.floor(length / parts.length) - 1)
    const hash = hashOf(parts.join('/'))
    return parts.map((part, level) =>
      level < parts.length - 1
        ? cut(part, share)
        : cut(part, Math.max(1, share - hash.length)) + hash,
    )
  })
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
  const end = hashOf(part)
  return cut(part, longest - end.length) + end
}

function hashOf(name: string): string {
  return `${STAND_IN}${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}

/** The beginning of a name that has no more than so many bytes. */
function cut(part: string, longest: number): string {
  let kept = ''
  for (const character of part) {
    if (byteLength(kept + character) > longest) break
    kept += character
  }
  return kept.trimEnd() || STAND_IN
}

/** The bytes of a name in UTF-8 or in modified UTF-7, whichever are more. */
function byteLength(name: string): number {
  return Math.max(Buffer.byteLength(name), encodeMailbox(name).length)
}

/** Returns the name, with a number appended when another folder has it. */
function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let candidate = name
  for (let number = 2; taken.has(candidate); number++) candidate = numberedName(name, number)
  return candidate
}

export function numberedName(name: string, number: number): string {
  return `${name}${STAND_IN}${number}`
}

import { createHash } from 'node:crypto'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'

/**
 * How one side writes its folders: what stands between the levels, and before all but INBOX. Paths,
 * not bytes.
 */
export type Hierarchy = { delimiter: string | null; prefix: string }

/** A folder that is to be copied. `specialUse` is its RFC 6154 attribute, such as `\Sent`. */
export type SourceFolder = { path: string; specialUse?: string | null }

/**
 * A folder of the source and where it goes. `bytes` is null where it would have cost too much to
 * ask.
 */
export type FolderRoute = { folder: Folder; mapped: MappedFolder; bytes: number | null }

export type MappingOptions = {
  /** Levels, separated by slashes, under which everything goes: `P` makes INBOX `P/INBOX`. */
  prefix: string
  /**
   * Source path to destination path, as the destination writes it. What is in here is taken as it
   * is.
   */
  folderMap: Readonly<Record<string, string>>
  /**
   * The destination's folders for `\Sent`, `\Trash` …; folders of the same use go there. Empty:
   * names decide alone.
   */
  specialUse: ReadonlyMap<string, string>
}

/**
 * Where a folder goes. `altered` says, for the report, that its name could not stay as it was;
 * `inTheWay` names the destination that another folder has, where that was the reason.
 */
export type MappedFolder = {
  source: string
  destination: string
  altered: boolean
  inTheWay: string | null
}

const STAND_IN = '_'

/** Longer names are refused by servers that keep folders as files. */
const MAX_NAME_PART_CHARS = 200

/**
 * Where every folder goes: never two to the same place unless the folder map says so, never an
 * empty level, INBOX to INBOX (or `prefix/INBOX`). What the destination's delimiter or a control
 * character would break is replaced.
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
    const natural =
      same ??
      placeAt(
        parts.map((part) => fit(part, to)),
        to,
        options.prefix,
      )
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
 * Names to try when the destination refuses the one it was given, the closest first: without what
 * some server or other forbids, all of that, in ASCII alone, shortened, and at last without levels,
 * for servers whose parent folders have no children.
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

/** What servers refuse in names, each by itself. */
const FORBIDDEN = [
  // Maildir++ divides levels by dots.
  /\./g,
  // Dovecot: a name that begins like a home directory.
  /^~/g,
  // Cyrus
  /[{}%"\\|<>`!;]/g,
  // Courier does not read the surrogate pairs of modified UTF-7 (RFC 3501, 5.1.3), which emoji
  // need.
  /[\u{10000}-\u{10ffff}]/gu,
]

/**
 * The levels of a path below the namespace's prefix; INBOX in capitals, as every server understands
 * it.
 */
export function splitPath(path: string, { delimiter, prefix }: Hierarchy): string[] {
  const bare =
    prefix !== '' && path.startsWith(prefix) && path !== prefix ? path.slice(prefix.length) : path
  const [first = '', ...rest] = delimiter ? bare.split(delimiter) : [bare]
  return [isInbox(first) ? 'INBOX' : first, ...rest]
}

/** A path of these levels on the other side. */
function placeAt(
  parts: readonly string[],
  { delimiter, prefix }: Hierarchy,
  under: string,
): string {
  const to = { delimiter, prefix }
  const above = under.split('/').filter((part) => part !== '')
  const all = [...above.map((part) => fit(part, to)), ...parts]
  const inboxPrefix = delimiter !== null && isInbox(prefix.slice(0, -delimiter.length))
  // Where everything lies under INBOX, what lay there before need not be put there twice.
  // But for a folder of the name INBOX below it, which would be INBOX itself.
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

/** One level as the other side can write it. */
function fit(part: string, { delimiter }: Hierarchy): string {
  const free = delimiter ? part.replaceAll(delimiter, STAND_IN) : part
  const clean = free.replace(/\p{Cc}/gu, STAND_IN)
  return clean === '' ? STAND_IN : shorten(clean)
}

/** What servers forbid that keep folders as files, and wildcards of LIST. */
function plain(part: string): string {
  const clean = part
    .replace(/[./\\~*%"'&<>|:?{}`!;]|[\u{10000}-\u{10ffff}]/gu, STAND_IN)
    .replace(/^[ #_-]+|[ ]+$/g, STAND_IN)
  return shorten(clean === '' ? STAND_IN : clean, 60)
}

/** A long name is cut; what it ends in tells it from others that begin alike. */
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

/** The name itself, or with a number behind it when another folder has it. */
export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let candidate = name
  for (let number = 2; taken.has(candidate); number++) candidate = `${name}${STAND_IN}${number}`
  return candidate
}

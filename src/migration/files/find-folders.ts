import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  type Dirent,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import {
  byName,
  reasonOf,
  type FoundMessage,
  type Leave,
  type LeftOut,
} from './formats/found-message.ts'
import { isCompressed } from './formats/compressed.ts'
import { decodeLevel, decodeMailboxName } from './formats/level-names.ts'
import { isMaildir, readMaildir } from './formats/maildir.ts'
import { isHeader, isMbox } from './formats/from-line.ts'
import { readMbox } from './formats/mbox-read.ts'
import { readMail } from './formats/message-file.ts'
import { createMhFlags } from './formats/mh.ts'
import { unsupportedReason } from './formats/unsupported.ts'

/** A folder of messages on disk. */
export type FoundFolder = {
  path: string
  /** @param leave called for each file or message that is left out */
  messages: (leave: Leave) => Iterable<FoundMessage>
}

/** What was found below a path, and what was left out of it. */
export type FoundFolders = { folders: FoundFolder[]; left: LeftOut[] }

const MAX_DEPTH = 32
const MAX_FOLDERS = 10_000

const MESSAGE = /\.(?:eml|emlx)$/i
const MBOX_NAME = /\.(?:mbox|mbx|mbs)$/i
/** Files of an export that was killed. */
const TEMPORARY = /^\.(?:portreeve-)?\d+-\d+\.tmp$/
/** Links that programs use as locks: they lead nowhere. */
const LOCK = /^(?:lock|\.parentlock|\.#.*|Singleton.*)$/

/**
 * Finds mail below a path: mbox files, Maildirs, folders of messages, exports of mail programs. What
 * looks like mail by its content is mail, whatever its name is. Names only say where it belongs.
 */
export function findFolders(root: string): FoundFolders {
  const finder = new Finder()
  finder.visitRoot(resolve(root))
  return finder.found
}

/**
 * A place where a folder of mail is. `isApple`: in a mailbox of Apple Mail, whose folders are no
 * folders of mail. `isMaildir`: below a Maildir, where names are encoded as in IMAP.
 */
type Place = { levels: readonly string[]; depth: number; isApple: boolean; isMaildir: boolean }

class Finder {
  readonly found: FoundFolders = { folders: [], left: [] }
  /** Files and folders that were visited: links to them lead to mail that has its own place. */
  readonly #seen = new Set<string>()
  /** Links are followed last, so that mail is in its own place. */
  readonly #links: { path: string; place: Place }[] = []

  #root = ''

  visitRoot(root: string): void {
    this.#root = existsSync(root) ? realpathSync(root) : root
    this.#visit(root, () => {
      const isNamed = statSync(root).isDirectory() && isApplePackage(root) && !isMaildir(root)
      const levels = isNamed ? [nameOf(basename(root))] : []
      return { levels, depth: 0, isApple: isNamed, isMaildir: false }
    })
    // Further links can be behind links.
    for (const link of this.#links) this.#follow(link)
  }

  #visit(path: string, placeOf: () => Place): void {
    try {
      const stat = statSync(path)
      if (stat.isFile()) this.#visitFiles([path], placeOf())
      else if (stat.isDirectory()) {
        if (this.#seen.has(idOf(stat))) return
        this.#seen.add(idOf(stat))
        this.#visitFolder(path, placeOf())
      } else this.#leaveNoMail(path, 'It is no file.')
    } catch (error) {
      this.#leave(path, reasonOf(error))
    }
  }

  #follow({ path, place }: { path: string; place: Place }): void {
    try {
      const stat = statSync(path, { throwIfNoEntry: false })
      if (!stat) {
        if (LOCK.test(basename(path))) this.#leaveNoMail(path)
        else this.#leave(path, 'A link that leads nowhere.')
      } else if (`${this.#root}/`.startsWith(`${realpathSync(path).replace(/\/$/, '')}/`))
        this.#leaveNoMail(path, 'A link to a folder above.')
      else if (this.#seen.has(idOf(stat)))
        this.#leaveNoMail(path, 'A link to mail that is imported from its own place.')
      else this.#visit(path, () => (stat.isDirectory() ? placeBelow(path, place) : place))
    } catch (error) {
      this.#leave(path, reasonOf(error))
    }
  }

  #visitFolder(path: string, place: Place): void {
    if (place.depth > MAX_DEPTH || this.found.folders.length > MAX_FOLDERS) {
      this.#leave(path, 'There are too many folders, or too many in each other.')
      return
    }
    if (place.isApple && basename(path) === 'Attachments') {
      this.#leaveNoMail(path, 'Attachments of messages.')
      return
    }
    const entries = this.#entriesOf(path)
    const isDelivered = isMaildir(path, place.isMaildir)
    if (isDelivered)
      this.found.folders.push({
        path: pathOf(place.levels),
        messages: (leave) => readMaildir(path, leave),
      })
    const own = { ...place, isMaildir: place.isMaildir || isDelivered }
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => join(path, name))
    this.#visitFiles(files, own)
    for (const entry of entries) {
      const below = join(path, entry.name)
      const isOfMaildir = isDelivered && ['cur', 'new', 'tmp'].includes(entry.name)
      if (isOfMaildir && !entry.isFile()) this.#visitInMaildir(below, own)
      else if (entry.isSymbolicLink()) this.#links.push({ path: below, place: own })
      else if (entry.isDirectory()) this.#visit(below, () => placeBelow(below, own))
      else if (!entry.isFile()) this.#leaveNoMail(below, 'It is no file.')
    }
  }

  /** `cur`, `new` and `tmp`: their files are messages, or were not delivered. */
  #visitInMaildir(path: string, place: Place): void {
    for (const entry of this.#entriesOf(path)) {
      const below = join(path, entry.name)
      if (entry.isDirectory()) this.#visit(below, () => placeBelow(below, place))
      else if (basename(path) === 'tmp')
        this.#leaveNoMail(below, 'It was not delivered completely.')
      else if (entry.name.startsWith('.')) this.#leaveNoMail(below)
    }
  }

  #entriesOf(path: string): Dirent[] {
    try {
      return readdirSync(path, { withFileTypes: true }).toSorted(byName)
    } catch (error) {
      this.#leave(path, reasonOf(error))
      return []
    }
  }

  /** Files of one folder. Those with one message become messages of the folder itself. */
  #visitFiles(files: readonly string[], place: Place): void {
    const messages: string[] = []
    for (const file of files) {
      try {
        this.#seen.add(idOf(statSync(file)))
        const kind = this.#kindOf(file)
        if (kind === 'message') messages.push(file)
        if (kind === 'mbox')
          this.found.folders.push({
            path: pathOf(levelsOf(file, place)),
            messages: (leave) => readWholeMbox(file, leave),
          })
      } catch (error) {
        this.#leave(file, reasonOf(error))
      }
    }
    const [first] = messages
    if (first === undefined) return
    const flagsOf = createMhFlags(join(first, '..'))
    this.found.folders.push({
      path: pathOf(place.levels),
      *messages(leave) {
        for (const file of messages)
          yield* readMail(file, leave, { ...flagsOf(basename(file)), isExport: true })
      },
    })
  }

  #kindOf(file: string): 'message' | 'mbox' | null {
    const name = basename(file)
    if (TEMPORARY.test(name)) return this.#leaveNoMail(file, 'An export did not complete it.')
    if (/\.partial\.emlx$/i.test(name))
      return this.#leave(file, 'Apple Mail did not download the whole message.')
    const beginning = readBeginning(file)
    if (/^BEGIN:V(?:CARD|CALENDAR)\b/i.test(beginning.toString('latin1', 0, 20)))
      return this.#leaveNoMail(file, 'Contacts or a calendar.')
    if (MESSAGE.test(name)) return 'message'
    const isNamed = MBOX_NAME.test(name)
    if (isMbox(beginning) || (isNamed && beginning.length === 0)) return 'mbox'
    if (/\.msg$/i.test(name) && isCompressed(beginning)) return 'message'
    const reason = unsupportedReason(file, beginning)
    if (reason !== null) return this.#leave(file, reason)
    if (isNamed) return this.#leave(file, 'It does not begin with a line “From …” of an mbox file.')
    if (!isHeader(beginning.toString('latin1'), 2)) return this.#leaveNoMail(file)
    // MH names messages that were removed like this.
    if (/^[,#]\d+$/.test(name)) return this.#leaveNoMail(file, 'A message that was removed.')
    return 'message'
  }

  #leave(path: string, reason: string): null {
    this.found.left.push({ path, reason, count: 1, isProblem: true })
    return null
  }

  #leaveNoMail(path: string, reason = NO_MAIL): null {
    this.found.left.push({ path, reason, count: 1, isProblem: false })
    return null
  }
}

function* readWholeMbox(path: string, leave: Leave): Generator<FoundMessage> {
  try {
    yield* readMbox(path, 0, (reason) => leave({ path, reason, count: 1, isProblem: false }))
  } catch (error) {
    const reason = `The rest of it could not be read: ${reasonOf(error)}`
    leave({ path, reason, count: 1, isProblem: true })
  }
}

const idOf = ({ dev, ino }: { dev: number; ino: number }) => `${dev}:${ino}`

/** The reason why files such as indexes are left out. */
export const NO_MAIL = 'It has no mail.'

/** Apple Mail’s mailbox `X.mbox` is a folder: with a file `mbox`, or with .emlx files somewhere in it. */
function isApplePackage(path: string): boolean {
  if (!/\.mbox$/i.test(path)) return false
  return (
    existsSync(join(path, 'mbox')) ||
    readdirSync(path).some((name) => /^(?:Messages|Data|[0-9A-F]{8}-[0-9A-F-]{27})$/.test(name))
  )
}

function placeBelow(path: string, { levels, depth, isApple, isMaildir: isEncoded }: Place): Place {
  const name = basename(path)
  const isOwn = MBOX_NAME.test(name)
  const own = isApple && !isOwn ? [] : levelsOfFolder(path, name, isEncoded)
  return {
    levels: [...levels, ...own],
    depth: depth + 1,
    isApple: isApple || isApplePackage(path),
    isMaildir: isEncoded,
  }
}

function levelsOfFolder(path: string, name: string, isEncoded: boolean): string[] {
  const [, ofKMail] = /^\.(.+)\.directory$/.exec(name) ?? []
  if (ofKMail !== undefined && !isMaildir(path)) return [ofKMail]
  const isHidden = name.startsWith('.')
  if (isHidden && (isEncoded || isMaildir(path)))
    return name.slice(1).split('.').filter(Boolean).map(decodeMailboxName)
  if (isEncoded) return [decodeMailboxName(name)]
  return [nameOf(isHidden ? name.slice(1) : name)]
}

/** The levels of an mbox file. `readpst` and Apple Mail call it `mbox`, in a folder of its name. */
function levelsOf(file: string, { levels, isApple }: Place): string[] {
  const name = basename(file)
  if (levels.length > 0 && (isApple || name === 'mbox')) return [...levels]
  return [...levels, nameOf(name.replace(/^\.(?=.)/, ''))]
}

/** The name of a folder in place of that of its file: `X.sbd` has the folders below `X`. */
function nameOf(name: string): string {
  const bare = name.replace(/\.(?:sbd|mbox|mbx|mbs)$/i, '')
  return decodeLevel(bare === '' ? name : bare)
}

function pathOf(levels: readonly string[]): string {
  const names = levels.map((level) => level.normalize('NFC'))
  if (names[0]?.toLowerCase() === 'inbox') names[0] = 'INBOX'
  return names.length === 0 ? 'INBOX' : names.join('/')
}

function readBeginning(file: string): Buffer {
  const fd = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(8 * 1024)
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(fd)
  }
}

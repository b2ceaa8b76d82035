import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { decodeMailbox } from '../../net/imap/folders/mailbox-name.ts'
import type { FoundMessage } from './formats/found-message.ts'
import { isMaildir, readMaildir } from './formats/maildir.ts'
import { isMbox } from './formats/from-line.ts'
import { readMbox } from './formats/mbox.ts'
import { readMessageFile } from './formats/message-file.ts'

/** A folder of messages on disk. */
export type FoundFolder = {
  path: string
  /** The file or folder that it was found in. */
  origin: string
  messages: () => Iterable<FoundMessage>
}

/** What was found below a path. `left`: files that look like mail and cannot be read, and why. */
export type FoundFolders = { folders: FoundFolder[]; left: { file: string; reason: string }[] }

const MAX_DEPTH = 32
const MAX_FOLDERS = 10_000

/** Files of mail programs beside their mail. */
const IGNORED =
  /^(?:\..*|.*\.(?:msf|dat|html?|plist|json|sqlite|db|log|rc|txt)|dovecot.*|subscriptions|maildir(?:size|folder))$/i
const OUTLOOK = /\.(?:pst|ost)$/i
const MESSAGE = /\.(?:eml|emlx)$/i

/** Finds mail below a path: mbox files, Maildirs, folders of .eml files, exports of mail programs. */
export function findFolders(root: string): FoundFolders {
  const found: FoundFolders = { folders: [], left: [] }
  const start = resolve(root)
  if (!statSync(start).isDirectory()) visitFile(start, [], found)
  else if (isApplePackage(start) || isMaildir(start))
    visitFolder(start, isMaildir(start) ? [] : [nameOf(start)], found, 0)
  else visitFolder(start, [], found, 0)
  return found
}

function visitFolder(path: string, levels: string[], found: FoundFolders, depth: number): void {
  if (depth > MAX_DEPTH || found.folders.length > MAX_FOLDERS) return
  if (isMaildir(path)) return visitMaildir(path, levels, found, depth)
  const entries = readdirSync(path, { withFileTypes: true }).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  const messages = entries.filter((entry) => entry.isFile() && MESSAGE.test(entry.name))
  if (messages.length > 0)
    addMessages(
      path,
      messages.map(({ name }) => name),
      levels,
      found,
    )
  for (const entry of entries) {
    const file = join(path, entry.name)
    if (entry.isFile() && !MESSAGE.test(entry.name) && !IGNORED.test(entry.name))
      visitFile(
        file,
        isApplePackage(path) ? levels.slice(0, -1) : levels,
        found,
        isApplePackage(path) ? levels.at(-1) : undefined,
      )
    if (entry.isDirectory() && !entry.name.startsWith('.'))
      visitFolder(file, levelsBelow(entry.name, levels), found, depth + 1)
  }
}

/** `X.sbd` has the folders below `X`; the folders inside an Apple mailbox are no folders of mail. */
function levelsBelow(name: string, levels: string[]): string[] {
  if (/^(?:Messages|Data|[0-9]|[0-9A-F]{8}-[0-9A-F-]{27})$/.test(name)) return levels
  return [...levels, nameOf(name)]
}

/** Apple Mail exports `X.mbox`, a folder with a file `mbox`. */
function isApplePackage(path: string): boolean {
  return path.endsWith('.mbox') && existsSync(join(path, 'mbox'))
}

function nameOf(path: string): string {
  const name = basename(path)
  const bare = name.replace(/\.(?:sbd|mbox|mbx|mbs)$/i, '')
  return bare === '' ? name : bare
}

function pathOf(levels: readonly string[]): string {
  const names = levels.map((level) => level.normalize('NFC'))
  if (names[0]?.toLowerCase() === 'inbox') names[0] = 'INBOX'
  return names.length === 0 ? 'INBOX' : names.join('/')
}

function visitFile(file: string, levels: string[], found: FoundFolders, name = nameOf(file)): void {
  if (OUTLOOK.test(file)) {
    const reason = 'Outlook data files are not supported. Export the mail from Outlook to IMAP.'
    return void found.left.push({ file, reason })
  }
  if (MESSAGE.test(file)) return addMessages(join(file, '..'), [basename(file)], levels, found)
  const beginning = readBeginning(file)
  if (isMbox(beginning))
    found.folders.push({
      path: pathOf([...levels, name]),
      origin: file,
      messages: () => readMbox(file),
    })
  else if (/\.(?:mbox|mbx|mbs)$/i.test(extname(file)) && beginning.length > 0)
    found.left.push({ file, reason: 'It does not begin with a line “From …” of an mbox file.' })
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

function addMessages(path: string, names: string[], levels: string[], found: FoundFolders): void {
  const whole = names.filter((name) => !/\.partial\.emlx$/i.test(name))
  for (const name of names.filter((each) => !whole.includes(each)))
    found.left.push({
      file: join(path, name),
      reason: 'Apple Mail did not download the whole message.',
    })
  found.folders.push({
    path: pathOf(levels),
    origin: path,
    *messages() {
      for (const name of whole) {
        const message = readMessageFile(join(path, name))
        if (message) yield message
      }
    },
  })
}

/** A Maildir with its folders: `.A.B` (Maildir++), or directories. */
function visitMaildir(path: string, levels: string[], found: FoundFolders, depth: number): void {
  found.folders.push({ path: pathOf(levels), origin: path, messages: () => readMaildir(path) })
  for (const { name } of readdirSync(path, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  )) {
    const below = join(path, name)
    if (['cur', 'new', 'tmp'].includes(name) || !isMaildir(below)) continue
    const own = name.startsWith('.') ? name.slice(1).split('.') : [name]
    const decoded = own.map((level) => decodeMailbox(Buffer.from(level).toString('latin1')))
    visitFolder(below, [...levels, ...decoded], found, depth + 1)
  }
}

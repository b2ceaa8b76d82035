import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { encodeMailbox } from '../../net/imap/folders/mailbox-name.ts'
import type { MigrationNote } from '../engine/context.ts'
import type { FoundFolder } from './find-folders.ts'
import type { ExportFormat } from './formats/mail-export-formats.ts'
import { readWhole } from './formats/file-part.ts'
import { byName } from './formats/found-message.ts'
import { isMbox } from './formats/from-line.ts'
import { decodeLevel, decodeMailboxName, encodeLevel } from './formats/level-names.ts'
import { isMaildir, readMaildir } from './formats/maildir.ts'
import { readMbox } from './formats/mbox-read.ts'
import { readMail } from './formats/message-file.ts'
import { openFolder, readInto, type OpenFolder } from './open-source.ts'
import { createEmlWriter } from './writers/eml-writer.ts'
import type { FormatWriter } from './writers/format-writer.ts'
import { createMaildirWriter } from './writers/maildir-writer.ts'
import { createMboxWriter } from './writers/mbox-writer.ts'
import type { MailStore, StoredMessage, StoreFolder } from './mail-files.sql.ts'

type OnDropped = (place: string, keyword: string) => void

const WRITERS: Record<ExportFormat, (onDropped: OnDropped) => FormatWriter> = {
  maildir: createMaildirWriter,
  mbox: createMboxWriter,
  eml: createEmlWriter,
}

/**
 * Opens a folder of files as a destination, with the mail that an earlier run put there. Close it
 * when the engine has ended. `notes` says what the files could not have.
 */
export async function openDestination(
  root: string,
  format: ExportFormat,
  { state, signal, isDry }: { state: string; signal: AbortSignal; isDry: boolean },
): Promise<MailStore & { notes(): MigrationNote[]; close(): void }> {
  const start = resolve(root)
  if (!isDry) mkdirSync(start, { recursive: true, mode: 0o700 })
  const dropped = new Map<string, Set<string>>()
  const writer = WRITERS[format]((place, keyword) =>
    dropped.set(place, (dropped.get(place) ?? new Set()).add(keyword)),
  )
  if (!isDry) writer.recover(start)
  const found = existsSync(start) ? findExported(start, format) : []
  const open = new Map<string, OpenFolder>()
  const folders = new Map<string, StoreFolder>()
  const options = { origin: start, state, labels: 'ignore' as const, signal }
  await readInto({ folders }, open, found, options)

  const placeFor = (path: string) => placeOf(start, path, format)
  function create(path: string): void {
    if (placeFor(path) !== start) requireFree(placeFor(path), format)
    writer.create(placeFor(path))
    folders.set(path, openFolder(open, path, options).folder)
  }

  const place = (folder: StoreFolder) => placeFor(folder.path)
  if (!isDry && !folders.has('INBOX')) create('INBOX')
  return {
    folders,
    notes: () =>
      [...folders.keys()].flatMap((folder) => {
        const keywords = [...(dropped.get(placeFor(folder)) ?? [])]
        if (keywords.length === 0) return []
        const message = `A Maildir has at most 26 keywords. Some messages lost these: ${keywords.join(', ')}.`
        return [{ folder, message }]
      }),
    close: () => open.forEach(({ index }) => index.close()),
    writer: {
      hasFlags: format !== 'eml',
      create,
      begin: (folder) => writer.begin(place(folder)),
      async commit(folder, messages) {
        const { index } = open.get(folder.path) as OpenFolder
        const stored = await writer.store(place(folder), messages)
        const uids = stored.map((message) => {
          const uid = index.assign(message.key)
          const { size, flags, date, messageId, read, fill } = message
          const added: StoredMessage = { uid, size, flags, date, messageId, read, fill }
          folder.messages.push(added)
          folder.bytes += size
          return uid
        })
        await index.save()
        writer.finish(place(folder))
        folder.uidNext = index.uidNext
        return uids
      },
      // The state of a message in a file is that of its copy. Later flags stay at the source.
      addFlags: () => undefined,
    },
  }
}

/**
 * Finds the folders that an export in this format has written, by the rules of the format and of
 * nothing else: other mail that is there does not belong to it.
 */
function findExported(start: string, format: ExportFormat): FoundFolder[] {
  const nothing = () => undefined
  if (format === 'maildir')
    return ['', ...foldersIn(start).filter((name) => name.startsWith('.'))]
      .filter((name) => isMaildir(join(start, name)))
      .map((name) => ({
        path: name === '' ? 'INBOX' : name.slice(1).split('.').map(decodeMailboxName).join('/'),
        messages: () => readMaildir(join(start, name), nothing),
      }))
  const found: FoundFolder[] = []
  const visit = (folder: string, levels: readonly string[]) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted(byName)) {
      const { name } = entry
      const file = join(folder, name)
      if (name.startsWith('.') || (entry.isDirectory() && isMaildir(file))) continue
      if (entry.isDirectory()) visit(file, [...levels, decodeLevel(name)])
      if (format === 'mbox' && entry.isFile() && name.endsWith('.mbox') && isOurs(file))
        found.push({
          path: [...levels, decodeLevel(name.slice(0, -'.mbox'.length))].join('/'),
          messages: () => readMbox(file),
        })
    }
    const messages = (names: readonly string[]) => names.filter((name) => name.endsWith('.eml'))
    if (format === 'eml' && levels.length > 0 && messages(readdirSync(folder)).length > 0)
      found.push({
        path: levels.join('/'),
        *messages() {
          const names = messages(readdirSync(folder)).map((name) => ({ name }))
          for (const { name } of names.toSorted(byName))
            yield* readMail(join(folder, name), nothing)
        },
      })
  }
  visit(start, [])
  return found
}

const foldersIn = (path: string) =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

/** Whether messages can be added to a file. */
function isOurs(file: string): boolean {
  const beginning = readWhole(file, 0, 8 * 1024)
  return beginning.length === 0 || isMbox(beginning)
}

/** The file or folder of a path. No level can leave the root. */
function placeOf(start: string, path: string, format: ExportFormat): string {
  const levels = path.split('/')
  if (format === 'maildir') {
    const names = levels.map((level) => encodeMailbox(level).replaceAll('.', '&AC4-'))
    return path === 'INBOX' ? start : join(start, `.${names.join('.')}`)
  }
  return join(start, ...levels.map(encodeLevel)) + (format === 'mbox' ? '.mbox' : '')
}

/**
 * Refuses a name that is taken by other files, or by one that differs only in case: then both would be
 * the same file.
 */
function requireFree(place: string, format: ExportFormat): void {
  if (!existsSync(place)) return
  const isSame = readdirSync(dirname(place)).includes(basename(place))
  if (!isSame || (format === 'mbox' && !isOurs(place)))
    throw Object.assign(new Error('The name is taken.'), { code: 'EEXIST' })
}

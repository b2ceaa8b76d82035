import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { encodeMailbox } from '../../net/imap/folders/mailbox-name.ts'
import type { ExportFormat } from './formats/export-formats.ts'
import { findFolders, type FoundFolders } from './find-folders.ts'
import { openFolder, readInto, type OpenFolder } from './open-source.ts'
import { createEmlWriter } from './writers/eml-writer.ts'
import type { FormatWriter } from './writers/format-writer.ts'
import { createMaildirWriter } from './writers/maildir-writer.ts'
import { createMboxWriter } from './writers/mbox-writer.ts'
import type { MailStore, StoredMessage, StoreFolder } from './store.ts'

const WRITERS: Record<ExportFormat, () => FormatWriter> = {
  maildir: createMaildirWriter,
  mbox: createMboxWriter,
  eml: createEmlWriter,
}

/**
 * Opens a folder of files as a destination, with the mail that an earlier run put there. Close it
 * when the engine has ended.
 */
export async function openDestination(
  root: string,
  format: ExportFormat,
  { state, signal, isDry }: { state: string; signal: AbortSignal; isDry: boolean },
): Promise<MailStore & { close(): void }> {
  const start = resolve(root)
  if (!isDry) mkdirSync(start, { recursive: true, mode: 0o700 })
  const writer = WRITERS[format]()
  if (!isDry) writer.recover(start)
  const found = existsSync(start) ? findExported(start, format) : { folders: [], left: [] }
  const open = new Map<string, OpenFolder>()
  const folders = new Map<string, StoreFolder>()
  await readInto({ folders }, open, found, { state, labels: 'ignore', signal })

  function create(path: string): void {
    const place = placeOf(start, path, format)
    writer.create(place)
    folders.set(path, openFolder(open, path, place, state).folder)
  }

  const place = (folder: StoreFolder) => (open.get(folder.path) as OpenFolder).origin
  if (!isDry && !folders.has('INBOX')) create('INBOX')
  return {
    folders,
    close: () => open.forEach(({ index }) => index.close()),
    writer: {
      hasFlags: format !== 'eml',
      create,
      begin: (folder) => writer.begin(place(folder)),
      async commit(folder, messages) {
        const { index } = open.get(folder.path) as OpenFolder
        const stored = await writer.store(place(folder), messages, index.uidNext)
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

/** Only files of this format belong to the export. */
function findExported(start: string, format: ExportFormat): FoundFolders {
  const { folders } = findFolders(start)
  const isOwn = (origin: string) => {
    if (format === 'mbox') return origin.endsWith('.mbox')
    return existsSync(join(origin, 'cur')) === (format === 'maildir') && !origin.endsWith('.mbox')
  }
  return {
    left: [],
    folders: folders
      .filter(({ origin }) => isOwn(origin))
      .map((folder) => ({ ...folder, path: folder.path.replace(/(^|\/)%2E/g, '$1.') })),
  }
}

/** The file or folder of a path. No level can leave the root. */
function placeOf(start: string, path: string, format: ExportFormat): string {
  const levels = path.split('/')
  if (format === 'maildir') {
    const names = levels.map((level) => encodeMailbox(level).replaceAll('.', '&AC4-'))
    return path === 'INBOX' ? start : join(start, `.${names.join('.')}`)
  }
  const names = levels.map((level) => level.replace(/^\./, '%2E').replaceAll('\0', '_'))
  return join(start, ...names) + (format === 'mbox' ? '.mbox' : '')
}

import {
  closeSync,
  existsSync,
  fdatasync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { Fault } from '../../../errors.ts'
import { giveToFolderOwner, makeFolder } from '../../../store/file.ts'
import { retryFailed } from './journal.ts'
import { JournalContents, type JournalEntry } from './journal-contents.ts'
import { createContentsJournal, type ContentsJournal } from './memory-journal.ts'

export type FileJournal = ContentsJournal & { close(): void }

type Opening = { retry?: boolean; isDry?: boolean }

const makeDurable = promisify(fdatasync)

/**
 * Opens a journal in a file of JSON lines, for one process at a time.
 * @param isDry reads it only, because results of a dry run are not part of the migration
 * @param retry forgets the failures of earlier runs, so that those messages are copied again
 * @throws Fault `conflict` while another process uses it
 */
export function openFileJournal(
  path: string,
  { retry = false, isDry = false }: Opening = {},
): FileJournal {
  makeFolder(dirname(path), 0o700)
  claim(`${path}.pid`)
  const contents = new JournalContents()
  for (const entry of entriesOf(path)) contents.apply(entry)
  if (retry) {
    for (const [folder, state] of contents.folders) contents.folders.set(folder, retryFailed(state))
    contents.failures = []
  }
  if (!isDry) rewrite(path, contents)
  const fd = openSync(path, 'a')
  giveToFolderOwner(path)

  async function append(entry: JournalEntry): Promise<void> {
    if (isDry) return
    writeSync(fd, `${JSON.stringify(entry)}\n`)
    await makeDurable(fd)
  }

  return Object.assign(createContentsJournal(contents, append), {
    close() {
      closeSync(fd)
      rmSync(`${path}.pid`, { force: true })
    },
  })
}

function entriesOf(path: string): JournalEntry[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as JournalEntry]
    } catch {
      // The last line of a killed process may be incomplete. Nothing has relied on it yet.
      return []
    }
  })
}

function rewrite(path: string, contents: JournalContents): void {
  const lines = [...contents.entries()].map((entry) => `${JSON.stringify(entry)}\n`)
  writeFileSync(`${path}.new`, lines.join(''), { mode: 0o600, flush: true })
  giveToFolderOwner(`${path}.new`)
  renameSync(`${path}.new`, path)
}

function claim(path: string): void {
  const owner = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
  if (owner !== process.pid && isAlive(owner)) {
    throw new Fault(
      'conflict',
      `Another process (${owner}) is at this migration; wait for it or end it.`,
    )
  }
  writeFileSync(path, String(process.pid))
  giveToFolderOwner(path)
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

import {
  closeSync,
  existsSync,
  fdatasync,
  mkdirSync,
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
import { retryFailed, type CopyFailure, type Journal, type SavedFolder } from './journal.ts'

/** A line of the file. The last line of a folder counts. */
type Entry =
  | { folder: string; state: SavedFolder; failures?: readonly CopyFailure[] }
  | { failure: CopyFailure }

export type FileJournal = Journal & {
  /** Failures of this run and earlier ones. */
  readonly failures: readonly CopyFailure[]
  close(): void
}

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
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  claim(`${path}.pid`)
  const folders = new Map<string, SavedFolder>()
  let failures: CopyFailure[] = []
  for (const entry of entriesOf(path)) {
    if ('state' in entry) folders.set(entry.folder, entry.state)
    failures.push(...('state' in entry ? (entry.failures ?? []) : [entry.failure]))
  }
  if (retry) {
    for (const [folder, state] of folders) folders.set(folder, retryFailed(state))
    failures = []
  }
  if (!isDry) rewrite(path, folders, failures)
  const fd = openSync(path, 'a')

  async function append(entry: Entry): Promise<void> {
    if (isDry) return
    writeSync(fd, `${JSON.stringify(entry)}\n`)
    await makeDurable(fd)
  }

  return {
    failures,
    load: async (folder) => folders.get(folder) ?? null,
    async save(folder, state, added) {
      folders.set(folder, state)
      failures.push(...added)
      await append({ folder, state, ...(added.length > 0 && { failures: added }) })
    },
    async report(failure) {
      failures.push(failure)
      await append({ failure })
    },
    close() {
      closeSync(fd)
      rmSync(`${path}.pid`, { force: true })
    },
  }
}

function entriesOf(path: string): Entry[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry]
    } catch {
      // The last line of a killed process may be incomplete. Nothing has relied on it yet.
      return []
    }
  })
}

function rewrite(
  path: string,
  folders: Map<string, SavedFolder>,
  failures: readonly CopyFailure[],
): void {
  const lines = [...folders].map(([folder, state]) => JSON.stringify({ folder, state }))
  lines.push(...failures.map((failure) => JSON.stringify({ failure })))
  writeFileSync(`${path}.new`, lines.map((line) => `${line}\n`).join(''), {
    mode: 0o600,
    flush: true,
  })
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

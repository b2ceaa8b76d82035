import { createReadStream } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Kysely } from 'kysely'
import { requireFirstWorkspace } from '../../accounts/accounts.ts'
import { ingest, type GivenFile } from '../../dmarc/intake/ingest.ts'
import type { IntakeOutcome } from '../../dmarc/intake/store-batch.ts'
import { MAX_DELIVERY_BYTES } from '../../dmarc/limits.ts'
import { isMbox, splitMbox } from '../../protocols/mail/mbox.ts'
import type { DB } from '../../store/tables.ts'
import { UsageError } from '../command.ts'
import { withDatabase } from '../database-access.ts'
import { bar, countText, timeText } from '../migrate/progress-bars.ts'
import { printResult } from '../print-result.ts'
import { sanitizeForTerminal, table } from '../terminal-text.ts'

/**
 * Imports files and folders, and prints how many reports were stored.
 * @param email imports only for the account with this email address
 * @returns the exit code: 1 when no file was a report
 */
export async function importPaths(
  paths: string[],
  email: string | undefined,
  json: boolean,
): Promise<number> {
  const found = await findFiles(paths)
  const outcome = await withDatabase((db) => importFiles(db, found, email))
  printResult(shown(outcome), json, textOf(outcome, found.length))
  return outcome.stored + outcome.duplicates + outcome.failureReports > 0 ? 0 : 1
}

type FoundFile = { path: string; size: number }

/** The given files, and all files in the given folders, sorted by name. */
async function findFiles(paths: string[]): Promise<FoundFile[]> {
  const files: FoundFile[] = []
  for (const path of paths) {
    const found = await stat(path).catch(() => null)
    if (!found) throw new UsageError(`File or folder not found: ${path}.`)
    if (found.isFile()) files.push({ path, size: found.size })
    if (!found.isDirectory()) continue
    const names = await readdir(path)
    files.push(
      ...(await findFiles(
        names
          .filter((name) => !name.startsWith('.'))
          .toSorted()
          .map((name) => join(path, name)),
      )),
    )
  }
  return files
}

async function importFiles(
  db: Kysely<DB>,
  files: FoundFile[],
  email: string | undefined,
): Promise<IntakeOutcome> {
  const workspaceId =
    email === undefined ? null : (await requireFirstWorkspace(db, email)).workspaceId
  const progress = createProgress(process.stderr, files)
  try {
    const origin = { via: 'import' as const, workspaceId }
    return await ingest(
      db,
      origin,
      readAll(files, (bytes) => progress.read(bytes)),
      (soFar) => progress.stored(soFar),
    )
  } finally {
    progress.end()
  }
}

/** Reads an mbox file message by message: it may be larger than memory. */
async function* readAll(
  files: FoundFile[],
  onRead: (bytes: number) => void,
): AsyncGenerator<GivenFile> {
  for (const { path, size } of files) {
    const name = basename(path)
    if (isMbox(await head(path))) {
      for await (const bytes of splitMbox(createReadStream(path), MAX_DELIVERY_BYTES)) {
        yield { name, bytes }
        onRead(bytes.length)
      }
    } else {
      yield { name, bytes: await readFile(path) }
      onRead(size)
    }
  }
}

async function head(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(5), 0, 5, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Time between two updates of the bar; without a terminal, between two lines. */
const DRAW_EVERY_MS = 100
const LINE_EVERY_MS = 10_000

function createProgress(out: NodeJS.WriteStream, files: FoundFile[]) {
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const started = Date.now()
  let drawn = out.isTTY ? 0 : started
  let done = 0
  let reports = 0

  function draw(): void {
    if (Date.now() - drawn < (out.isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS)) return
    drawn = Date.now()
    const seconds = (drawn - started) / 1000
    const share = total === 0 ? 1 : Math.min(1, done / total)
    const left = share > 0 && seconds > 1 ? `${timeText((seconds * (1 - share)) / share)} left` : ''
    const line = `${bar(share)}  ${countText(reports)} reports  ${Math.round(reports / Math.max(seconds, 0.1))}/s  ${left}`
    out.write(out.isTTY ? `\r\u001b[K${line}` : `${line}\n`)
  }

  return {
    read(bytes: number): void {
      done += bytes
      draw()
    },
    stored({ stored, duplicates }: IntakeOutcome): void {
      reports = stored + duplicates
      draw()
    },
    end: () => void (out.isTTY && out.write('\r\u001b[K')),
  }
}

function shown({ stored, duplicates, failureReports, rejected }: IntakeOutcome) {
  return { stored, duplicates, failureReports, rejected }
}

/** Rejected files that are listed by name. */
const MAX_LISTED = 20

function textOf(
  { stored, duplicates, failureReports, rejected }: IntakeOutcome,
  files: number,
): string {
  const failures =
    failureReports > 0 ? `, ${countText(failureReports)} failure reports ignored` : ''
  const counts = `${countText(files)} files: ${countText(stored)} reports stored, ${countText(duplicates)} duplicates${failures}, ${countText(rejected.length)} rejected.`
  const named = rejected
    .slice(0, MAX_LISTED)
    .map(({ name, reason }) => [sanitizeForTerminal(name), sanitizeForTerminal(reason)])
  const more =
    rejected.length > MAX_LISTED ? [`  and ${countText(rejected.length - MAX_LISTED)} more`] : []
  return [counts, ...(named.length > 0 ? [table(named)] : []), ...more].join('\n')
}

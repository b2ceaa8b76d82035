import type { CopyFailure } from '../../migration/engine/journal/journal.ts'
import type { MigrationOutcome } from '../../migration/engine/outcome.ts'
import type { LeftOut } from '../../migration/files/formats/found-message.ts'
import { sizeText } from '../../migration/engine/plan/size-text.ts'
import type { SizedFolder } from '../../migration/folder-sizes.ts'
import { countText, timeText } from './progress-bars.ts'
import { sanitizeForTerminal, paint, table } from '../terminal-text.ts'

/**
 * The outcome with all failures. `isDry`: a dry run. `leftOut`: what an import did not read; where it
 * may have mail, not all of it was copied.
 */
export type Reported = MigrationOutcome & {
  isDry: boolean
  failures: readonly CopyFailure[]
  seconds: number
  leftOut?: readonly LeftOut[]
}

/** Entries of a report that are named. All are counted. */
const MAX_LEFT_OUT = 1_000

/** The folders to copy, with messages and size, for standard error. */
export function tableOf(folders: readonly SizedFolder[]): string {
  const row = (messages: number, bytes: number, name: string) => [
    countText(messages).padStart(9),
    sizeText(bytes).padStart(9),
    name,
  ]
  const sum = (of: (folder: SizedFolder) => number) =>
    folders.reduce((total, folder) => total + of(folder), 0)
  const head = ['messages'.padStart(9), 'size'.padStart(9), 'folder'].map((text) =>
    paint('dim', text, process.stderr),
  )
  const rows = folders.map(({ path, messages, bytes }) =>
    row(messages, bytes, sanitizeForTerminal(path)),
  )
  const total = row(
    sum(({ messages }) => messages),
    sum(({ bytes }) => bytes),
    `${folders.length} folders`,
  )
  return `${table([head, ...rows, total.map((text) => paint('bold', text, process.stderr))])}\n`
}

/**
 * Prints the report.
 * @returns the exit code
 */
export function report(reported: Reported, json: boolean): number {
  if (json) console.log(JSON.stringify(jsonOf(reported)))
  else for (const line of linesOf(reported)) console.log(line)
  return isComplete(reported) ? 0 : 1
}

function isComplete({ state, leftOut = [] }: Reported): boolean {
  return state === 'completed' && !leftOut.some(({ isProblem }) => isProblem)
}

function jsonOf(reported: Reported): object {
  const { seconds, progress, folders, notes, stopped, failures, leftOut } = reported
  const success = isComplete(reported)
  const status = success ? 'completed' : 'failed'
  const left = leftOut && {
    leftOut: leftOut.slice(0, MAX_LEFT_OUT),
    leftOutCount: leftOut.reduce((sum, { count }) => sum + count, 0),
  }
  return { success, status, seconds, progress, folders, notes, stopped, errors: failures, ...left }
}

function linesOf(reported: Reported): string[] {
  const at = (folder: string, uid?: number | null) =>
    `${sanitizeForTerminal(folder)}${uid ? ` ${uid}` : ''}`
  const shown = reported.folders.filter((folder) => folder.altered || reported.isDry)
  return [
    ...shown.map(
      ({ source, destination }) =>
        `  ${sanitizeForTerminal(source)}  →  ${sanitizeForTerminal(destination)}`,
    ),
    ...reported.notes.map(
      ({ folder, uid, message }) => `  ${at(folder, uid)}: ${sanitizeForTerminal(message)}`,
    ),
    ...reported.failures.map(
      ({ folder, uid, code, message }) =>
        `  ${paint('red', code)} ${at(folder, uid)}: ${sanitizeForTerminal(message)}`,
    ),
    sentenceOf(reported),
  ]
}

function sentenceOf({ state, isDry, progress, stopped, seconds }: Reported): string {
  const {
    messagesDone,
    messagesTotal,
    skippedByDedup,
    errorCount,
    foldersTotal,
    bytesDone,
    bytesTotal,
  } = progress
  if (isDry && !stopped) {
    const size = bytesTotal === null ? '' : `, ${sizeText(bytesTotal)}`
    const failed =
      errorCount === 0 ? '' : `${paint('red', `${countText(errorCount)} cannot be copied.`)} `
    const folders = foldersTotal - errorCount
    return `${failed}Dry run: ${countText(messagesTotal)} messages in ${folders} folders${size} would be copied.`
  }
  const there =
    skippedByDedup > 0 ? `, ${countText(skippedByDedup)} of them skipped as duplicates` : ''
  const counts = `${countText(messagesDone)} of ${countText(messagesTotal)} messages in ${foldersTotal} folders${there}, ${sizeText(bytesDone)}, in ${timeText(seconds)}.`
  if (state === 'completed') return `${paint('green', 'Verified:')} ${counts}`
  const why = stopped ? ` ${sanitizeForTerminal(stopped.message)}` : ''
  return `${paint('red', `${countText(errorCount)} not copied:`)} ${counts}${why} Run the same command to continue; add --retry to retry failed messages.`
}

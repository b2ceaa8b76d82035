import { rmSync } from 'node:fs'
import { readConfig } from '../../config.ts'
import { deleteMessages } from '../../migration/deletion/delete-messages.ts'
import type { Deletions } from '../../migration/deletion/plan-deletions.ts'
import type { MigrationAccount } from '../../migration/engine/connections/fresh-sign-in.ts'
import { openFileJournal } from '../../migration/engine/journal/file-journal.ts'
import { isOfSkipped } from '../../migration/engine/folder/folder-copier.ts'
import { createMemoryJournal } from '../../migration/engine/journal/memory-journal.ts'
import { migrateMailbox } from '../../migration/engine/migrate.ts'
import type { MigrationOutcome } from '../../migration/engine/outcome.ts'
import type { MigrateOptions } from '../../migration/engine/migration-options.ts'
import type { Folder } from '../../net/imap/folders/list-folders.ts'
import { journalPath } from '../migrate/journal-path.ts'
import { createCommandLog } from '../terminal-log.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { ExitError } from './exit-values.ts'
import { copyLine, type Output, type Summary } from './output.ts'
import type { Arguments } from './parse-arguments.ts'

export type Sides = readonly [source: MigrationAccount, destination: MigrationAccount]

export type Stopping = { signal: AbortSignal; stop: (reason: ExitError) => void }

type CopyDeps = {
  sides: Sides
  folders: readonly Folder[]
  options: MigrateOptions
  args: Arguments
  output: Output
  summary: Summary
  stop: Stopping
  failures: string[]
}

/** Copies the folders, with a line for each message and each failure. */
export async function copyFolders(deps: CopyDeps): Promise<MigrationOutcome> {
  const { sides, folders, options, args, output, summary, stop, failures } = deps
  const [source, destination] = sides
  const isKept = !options.filter?.none
  const path = journalPath(
    { source: source.account, destination: destination.account },
    options,
    args.valueOf('state'),
    ['imapsync', args.valuesOf('regextrans2'), args.numberOf('maxsize'), args.numberOf('minsize')],
  )
  const journal = isKept ? openFileJournal(path, { retry: true, isDry: options.dryRun }) : null
  const [maxBytes, maxErrors] = [args.numberOf('exitwhenover'), args.numberOf('errorsmax')]
  const memory = journal ?? createMemoryJournal()
  try {
    const outcome = await migrateMailbox({
      source,
      destination,
      folders: folders.map((folder) => folder.path),
      options,
      journal: memory,
      signal: stop.signal,
      log: createCommandLog(readConfig(), 'error'),
      onCopied(message) {
        summary.messages += 1
        summary.bytes += message.size
        output.print(copyLine(message, summary))
        if (maxBytes !== undefined && summary.bytes > maxBytes)
          stop.stop(new ExitError('exceeded', `More than ${maxBytes} bytes were transferred.`))
      },
      onProgress(progress) {
        summary.progress = progress
        if (maxErrors !== undefined && progress.errorCount > maxErrors)
          stop.stop(new ExitError('maxErrors', `More than ${maxErrors} errors.`))
      },
    })
    summary.progress = outcome.progress
    summary.differing = outcome.notes.filter(isOfSkipped).length
    // Messages that are too young now are copied by a later run, which must not skip them.
    if (outcome.state === 'completed' && args.numberOf('minage') !== undefined)
      rmSync(path, { force: true })
    return outcome
  } finally {
    journal?.close()
    for (const [index, failure] of memory.failures.entries()) {
      failures.push(`${failure.code} ${failure.message}`)
      const at = `${failure.folder}${failure.uid === null ? '' : `/${failure.uid}`}`
      output.print(
        `Err ${index + 1}/${memory.failures.length}: ${failure.code} ${sanitizeForTerminal(`${at}: ${failure.message}`)}`,
      )
    }
  }
}

/** Deletes what the options request, after a complete copy. */
export async function applyDeletions(
  [source, destination]: Sides,
  { folders }: MigrationOutcome,
  deletions: Deletions,
  output: Output,
  signal: AbortSignal,
): Promise<Summary['deleted']> {
  const deleted = await deleteMessages({
    source: source.account,
    destination: destination.account,
    folders,
    deletions,
    signal,
  })
  if (deleted.isMarkedOnly)
    output.print('Some deleted messages are only marked as deleted: --noexpunge1, or no UIDPLUS.')
  return deleted
}

import type { MigrateOptions } from '../../migration/engine/migration-options.ts'
import { readConfig } from '../../config.ts'
import { Fault, messageOf } from '../../errors.ts'
import { openFileJournal } from '../../migration/engine/journal/file-journal.ts'
import { migrateMailbox } from '../../migration/engine/migrate.ts'
import { listFolderSizes } from '../../migration/folder-sizes.ts'
import { ImapLost, ImapRefused } from '../../net/imap/connection/refusals.ts'
import { UsageError } from '../command.ts'
import { codeOfSignal, onStopSignals } from '../stop-signals.ts'
import { createCommandLog } from '../terminal-log.ts'
import type { MigrateFlags } from './migrate-flags.ts'
import { accountsOf, type Accounts } from './migrate-accounts.ts'
import { report, tableOf, type Reported } from './migrate-report.ts'
import { journalPath } from './journal-path.ts'
import { readSourceDigest } from '../../migration/sync/checks/check-source.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { describeChanges, describeHeld, intervalOf, syncOptionsOf, waitForPass } from './every.ts'
import { countText, createBars } from './progress-bars.ts'
import { runBatch } from './run-batch.ts'

/** @returns the exit code: 0 when every message was copied */
export async function runMigration(flags: MigrateFlags, json: boolean): Promise<number> {
  const { batch } = flags
  if (batch !== undefined) refuseForBatch(flags)
  const work = { folders: batch === undefined ? foldersOf(flags) : [], options: optionsOf(flags) }
  const accounts = batch === undefined ? await accountsOf(flags) : null
  const interval = intervalOf(flags)
  const stop = stopOnSignal()
  try {
    if (!accounts) return await runBatch({ ...flags, batch: batch ?? '' }, work.options, json, stop)
    const first = await copy(accounts, work, { ...flags, json }, stop)
    const code = report(first, json)
    if (interval === null) return code
    return await synchronize(accounts, work, { ...flags, json, interval }, first, stop)
  } catch (error) {
    return codeOfStop(stop, error)
  }
}

/** A batch copies all folders, with the passwords of its file. */
function refuseForBatch(flags: MigrateFlags): void {
  const { folder, 'source-password-file': source, 'destination-password-file': destination } = flags
  if (flags['source-sign-in'] !== undefined || flags['destination-sign-in'] !== undefined)
    throw new UsageError('--batch cannot sign in at providers. Use the dashboard, one by one.')
  if (folder.length > 0 || source !== undefined || destination !== undefined)
    throw new UsageError('--batch copies all folders, with the passwords of its file.')
}

type Standing = MigrateFlags & { json: boolean; interval: number }

/** Runs a pass after each interval until it is stopped. */
async function synchronize(
  accounts: Accounts,
  work: Work,
  flags: Standing,
  first: Reported,
  stop: AbortSignal,
): Promise<number> {
  let last = first
  const folders = work.folders === 'all' ? [] : work.folders
  while (await waitForPass(flags.interval, stop)) {
    try {
      const seen = last.sync?.seen ?? null
      const isSame =
        seen !== null && (await readSourceDigest(accounts.source, folders, stop)) === seen
      if (!isSame) last = await copy(accounts, work, { ...flags, isQuiet: true }, stop)
      printPass(isSame ? null : last, flags.json)
    } catch (error) {
      if (stop.aborted) break
      // The next pass may succeed.
      console.error(`${timeOfDay()} ${sanitizeForTerminal(messageOf(error))}`)
    }
  }
  return last.state === 'completed' ? 0 : 1
}

function printPass(pass: Reported | null, json: boolean): void {
  const { changes = null, held = [] } = pass?.sync ?? {}
  if (json)
    return console.log(JSON.stringify({ at: new Date(), changes, held, errors: errorsOf(pass) }))
  const errors = errorsOf(pass)
  const failed = errors === 0 ? '' : `, ${countText(errors)} not copied`
  console.log(`${timeOfDay()} ${describeChanges(changes)}${failed}`)
  const waiting = describeHeld(held)
  if (waiting !== null) console.log(waiting)
}

const errorsOf = (pass: Reported | null) => pass?.progress.errorCount ?? 0
const timeOfDay = () => new Date().toTimeString().slice(0, 8)

type Work = { folders: string[] | 'all'; options: MigrateOptions }

function foldersOf({ all, folder }: MigrateFlags): string[] | 'all' {
  if (all === folder.length > 0)
    throw new UsageError('Choose folders with --all, or with --folder for each one.')
  return all ? 'all' : [...new Set(folder)]
}

function optionsOf(values: MigrateFlags): MigrateOptions {
  return {
    prefix: values.prefix,
    deduplicate: values.deduplicate,
    allMailOnce: values['all-mail-once'],
    specialUse: values['special-use'],
    dryRun: values['dry-run'],
    connections: values.connections,
    folderMap: folderMapOf(values.map),
    withNewMail: true,
    sync: syncOptionsOf(values),
  }
}

/** The destinations that --map names, by source. */
export function folderMapOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((text) => {
      const at = text.indexOf('=')
      if (at < 1 || at === text.length - 1)
        throw new UsageError(`--map ${text} must have the form FROM=TO.`)
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

/** Aborts at the first Ctrl-C; a second one ends the process at once. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController()
  onStopSignals(
    ['SIGINT', 'SIGTERM', 'SIGHUP'],
    (name) => stop.abort(new Error('stopped', { cause: name })),
    (name) => process.exit(codeOfSignal(name)),
  )
  return stop.signal
}

/**
 * Says how work continues that a signal of `stopOnSignal` stopped.
 * @returns the exit code
 * @throws the error of work that was not stopped
 */
export function codeOfStop({ aborted, reason }: AbortSignal, error: unknown): number {
  if (!aborted) throw error
  console.error('Stopped. Run the same command to continue.')
  return codeOfSignal((reason as { cause: NodeJS.Signals }).cause)
}

export async function asFault<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ImapRefused || error instanceof ImapLost)) throw error
    throw new Fault('upstream_rejected', messageOf(error), { cause: error })
  }
}

async function copy(
  accounts: Accounts,
  { folders, options }: Work,
  values: MigrateFlags & { json: boolean; isQuiet?: boolean },
  signal: AbortSignal,
): Promise<Reported> {
  const { json: isJson, isQuiet = false, retry, state } = values
  const json = isJson || isQuiet
  const surveyed = await asFault(listFolderSizes(accounts.source, signal))
  const chosen = surveyed.filter(({ path }) => folders === 'all' || folders.includes(path))
  if (!json) console.error(tableOf(chosen))
  const bars = createBars(process.stderr)
  const sides = { source: accounts.source.account, destination: accounts.destination.account }
  const journal = openFileJournal(journalPath(sides, options, state), {
    retry,
    isDry: values['dry-run'],
  })
  const began = performance.now()
  try {
    const outcome = await migrateMailbox({
      ...accounts,
      folders,
      options,
      sizes: new Map(chosen.map(({ path, bytes }) => [path, bytes])),
      journal,
      signal,
      log: createCommandLog(readConfig(), 'error'),
      ...(!json && { onProgress: (progress) => bars.show(progress) }),
    })
    const seconds = (performance.now() - began) / 1000
    return { ...outcome, isDry: values['dry-run'], failures: journal.failures, seconds }
  } finally {
    bars.end()
    journal.close()
  }
}

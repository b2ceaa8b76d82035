import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { isDeletionConfirmed } from '../../config.ts'
import { Fault, messageOf } from '../../errors.ts'
import type { Deletions } from '../../migration/deletion/plan-deletions.ts'
import { PARTIAL_LIST } from '../../migration/engine/migrate.ts'
import { sizesOf } from '../../migration/engine/plan/sizes.ts'
import { ImapLost, ImapRefused } from '../../net/imap/connection/refusals.ts'
import { createSessions } from '../../net/imap/connection/sessions.ts'
import { listReadableFolders, type Folder } from '../../net/imap/folders/list-folders.ts'
import { VERSION } from '../../version.ts'
import { UsageError } from '../command.ts'
import { onStopSignals } from '../stop-signals.ts'
import { sanitizeForTerminal } from '../terminal-text.ts'
import { accountOf, openSide } from './imapsync-accounts.ts'
import { applyDeletions, copyFolders, type Sides, type Stopping } from './copy-folders.ts'
import { EXIT_VALUES, ExitError, exitOfFailures, type Exit } from './exit-values.ts'
import { createFolderChoice, migrateOptionsOf } from './folders.ts'
import { OPTIONS } from './imapsync-options.ts'
import { createOutput, lastLine, statisticsLines, type Output, type Summary } from './output.ts'
import { parseArguments, type Arguments } from './parse-arguments.ts'

const DEFAULT_MAX_ERRORS = 50

/**
 * Runs imapsync’s command line. Its last line always names the exit value, on signals too.
 * @returns the exit code
 */
export async function runImapsync(words: readonly string[]): Promise<number> {
  let args: Arguments
  let output = createOutput(null)
  const failures: string[] = []
  let maxErrors = DEFAULT_MAX_ERRORS
  let exit: Exit
  try {
    args = parseArguments(words)
    if (args.switchOf('version')) {
      output.print(VERSION)
      return 0
    }
    output = createOutput(args)
    for (const warning of visibleSecrets(args)) output.print(`Warning: ${warning}`)
    maxErrors = args.numberOf('errorsmax') ?? DEFAULT_MAX_ERRORS
    exit = await withPidFile(args, () => run(args, output, failures))
  } catch (error) {
    exit = exitOfError(error)
    if (exit !== 'signal') failures.push(messageOf(error))
    output.print(
      `Err ${failures.length}/${failures.length}: ${sanitizeForTerminal(messageOf(error))}`,
    )
  }
  const [code, , error] = EXIT_VALUES[exit]
  if (error !== '') output.print(`The most frequent error is ${error}.`)
  output.print(lastLine(exit, failures.length, maxErrors))
  output.close()
  // When Node ends by itself, it gives up handling signals first: one that comes again, to a group of
  // processes, would replace the exit code.
  if (exit === 'signal') process.exit(code)
  return code
}

/** Options whose values other users of the machine can see in the list of processes. */
function visibleSecrets(args: Arguments): string[] {
  return ['1', '2'].flatMap((side) => {
    const token = args.valueOf(`oauthaccesstoken${side}`)
    return [
      ...(args.valueOf(`password${side}`) === undefined
        ? []
        : [
            `other users of this machine may have seen the value of --password${side}. Use --passfile${side} FILE.`,
          ]),
      ...(token === undefined || existsSync(token)
        ? []
        : [
            `other users of this machine may have seen the value of --oauthaccesstoken${side}. Give it the name of a file.`,
          ]),
    ]
  })
}

function exitOfError(error: unknown): Exit {
  if (error instanceof ExitError) return error.exit
  if (error instanceof UsageError) return 'usage'
  // Another process copies the same accounts.
  if (error instanceof Fault) return error.code === 'conflict' ? 'pidFile' : 'other'
  if (error instanceof ImapLost || error instanceof ImapRefused) return 'other'
  if (error instanceof Error && 'syscall' in error) return 'other'
  throw error
}

async function withPidFile<T>(args: Arguments, work: () => Promise<T>): Promise<T> {
  const file = args.valueOf('pidfile')
  if (file === undefined) return work()
  if (args.switchOf('pidfilelocking') && existsSync(file))
    throw new ExitError('pidFile', `The file ${file} exists: another run is in progress.`)
  writeFileSync(file, `${process.pid}\n`)
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

async function run(args: Arguments, output: Output, failures: string[]): Promise<Exit> {
  const deletions = deletionsOf(args)
  const [choose, options] = [createFolderChoice(args), migrateOptionsOf(args)]
  const stop = stopOnSignal()
  output.print(`Portreeve ${VERSION}, with the command line of imapsync. PID is ${process.pid}`)
  const sides = [await accountOf(args, 1), await accountOf(args, 2)] as const
  const surveyed = await survey(sides, args, choose, output, stop.signal)
  if (surveyed === null) return 'ok'
  const { folders, isPartial } = surveyed
  if (isPartial) failures.push(`${PARTIAL_LIST.code} ${PARTIAL_LIST.message}`)
  const summary: Summary = {
    began: new Date(),
    ended: new Date(),
    messages: 0,
    bytes: 0,
    isDry: options.dryRun ?? false,
    progress: null,
    deleted: { source: 0, destination: 0 },
    differing: 0,
    errors: 0,
  }
  try {
    const outcome = await copyFolders({
      sides,
      folders,
      options,
      args,
      output,
      summary,
      stop,
      failures,
    })
    if (outcome.state === 'completed' && deletions && !options.dryRun)
      summary.deleted = await applyDeletions(sides, outcome, deletions, output, stop.signal)
  } catch (error) {
    if (error instanceof ExitError && error.exit !== 'signal') failures.push(error.message)
    summary.errors = failures.length
    summary.ended = new Date()
    for (const line of statisticsLines(summary)) output.print(line)
    if (!(error instanceof ExitError)) throw error
    output.print(error.message)
    return error.exit
  }
  summary.errors = failures.length
  summary.ended = new Date()
  for (const line of statisticsLines(summary)) output.print(line)
  return failures.length === 0
    ? 'ok'
    : exitOfFailures(failures.map((text) => text.split(' ', 1)[0] ?? ''))
}

/** The deletions that the options request. */
function deletionsOf(args: Arguments): Deletions | null {
  const deletions = {
    copiedAtSource: args.switchOf('delete1') ?? false,
    removeAtSource: args.switchOf('expunge1') ?? true,
    unknownAtDestination: args.switchOf('delete2') ?? false,
    duplicatesAtDestination: args.switchOf('delete2duplicates') ?? false,
  }
  if (args.switchOf('expunge1') && !deletions.copiedAtSource)
    throw new UsageError(
      '--expunge1 works with --delete1 only: other messages that are marked as deleted are kept.',
    )
  const isAny =
    deletions.copiedAtSource || deletions.unknownAtDestination || deletions.duplicatesAtDestination
  if (!isAny) return null
  const isConfirmed = args.switchOf('confirm-deletion') || isDeletionConfirmed()
  if (isConfirmed || args.switchOf('dry')) return deletions
  const names = Object.keys(OPTIONS).filter(
    (name) => OPTIONS[name]?.effect === 'deletes' && args.switchOf(name),
  )
  throw new UsageError(
    `${names.map((name) => `--${name}`).join(' and ')} would delete messages. Add --confirm-deletion, or set PORTREEVE_CONFIRM_DELETION=yes, to allow that; or leave it out.`,
  )
}

function stopOnSignal(): Stopping {
  const controller = new AbortController()
  onStopSignals(
    ['SIGINT', 'SIGTERM', 'SIGHUP'],
    (name) =>
      controller.abort(
        new ExitError('signal', `Ended by ${name}. Run the same command to continue.`),
      ),
    () => process.exit(EXIT_VALUES.signal[0]),
  )
  return { signal: controller.signal, stop: (reason) => controller.abort(reason) }
}

/**
 * Signs in at both sides and lists the folders; null when that was all.
 * @returns whether all are wanted, and the source may have others
 */
async function survey(
  [source, destination]: Sides,
  args: Arguments,
  choose: (folders: readonly Folder[]) => Folder[],
  output: Output,
  signal: AbortSignal,
): Promise<{ folders: Folder[]; isPartial: boolean } | null> {
  const sessions = createSessions(() => openSide(source, 1, signal))
  await sessions.open()
  try {
    output.print(
      `Host1: success login on [${source.account.target.host}] with user [${source.account.user}]`,
    )
    const to = await openSide(destination, 2, signal)
    output.print(
      `Host2: success login on [${destination.account.target.host}] with user [${destination.account.user}]`,
    )
    await to.wire.logout()
    if (args.switchOf('justlogin')) return null
    const listing = await listReadableFolders(sessions.open)
    const chosen = choose(listing.folders)
    const areNamed = ['folder', 'folderrec', 'include'].some(
      (name) => args.valuesOf(name).length > 0,
    )
    const isPartial = listing.isPartial && !areNamed
    if (isPartial) output.print(`Host1: ${PARTIAL_LIST.message}`)
    if (!args.switchOf('justfoldersizes')) return { folders: chosen, isPartial }
    const sizes = await sizesOf(sessions.open, chosen)
    for (const { path, messages } of chosen)
      output.print(
        `Host1 folder ${sanitizeForTerminal(path)} Size: ${sizes.get(path) ?? 0} Messages: ${messages ?? 0}`,
      )
    return null
  } finally {
    await sessions.close()
  }
}

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import type { Arriving, MigrationNote } from '../../migration/engine/context.ts'
import { openFileJournal } from '../../migration/engine/journal/file-journal.ts'
import { migrateMailbox } from '../../migration/engine/migrate.ts'
import type { MigrationOutcome } from '../../migration/engine/outcome.ts'
import { findFolders, NO_MAIL } from '../../migration/files/find-folders.ts'
import type { LeftOut } from '../../migration/files/formats/found-message.ts'
import type { LabelMode } from '../../migration/files/open-source.ts'
import {
  startSource,
  type FoundMail,
  type SourceFolder,
  type SourceThread,
} from '../../migration/files/thread/source-thread.ts'
import type { AdministratorMethod } from '../../net/imap/connection/imap-sign-in.ts'
import { UsageError } from '../command.ts'
import { journalPath, stateFolder } from '../migrate/journal-path.ts'
import { accountOfSide } from '../migrate/migrate-accounts.ts'
import { report, tableOf } from '../migrate/migrate-report.ts'
import { countText, createBars } from '../migrate/progress-bars.ts'
import { codeOfStop, folderMapOf, stopOnSignal } from '../migrate/run-migration.ts'
import { createCommandLog } from '../terminal-log.ts'
import { paint, sanitizeForTerminal } from '../terminal-text.ts'
import { filesAccount } from './files-account.ts'

export type ImportFlags = {
  destination: string
  folder: string[]
  prefix: string
  map: string[]
  'special-use': boolean
  labels: LabelMode
  deduplicate: boolean
  retry: boolean
  connections: number
  'dry-run': boolean
  'no-verify': boolean
  state: string | undefined
  'destination-password-file': string | undefined
  'destination-admin': string | undefined
  'destination-admin-method': AdministratorMethod
}

/** @returns the exit code: 0 when every message was copied */
export async function runImport(
  paths: readonly string[],
  flags: ImportFlags,
  json: boolean,
): Promise<number> {
  const roots = paths.map((path) => resolve(path))
  requireMail(roots)
  const account = await accountOfSide('destination', {
    url: flags.destination,
    passwordFile: flags['destination-password-file'],
    admin: flags['destination-admin'],
    adminMethod: flags['destination-admin-method'],
    noVerify: flags['no-verify'],
  })
  const signal = stopOnSignal()
  try {
    return await copy(roots, { flags, json, account, signal })
  } catch (error) {
    return codeOfStop(signal, error)
  }
}

/** Ends the command at once where there is nothing to import, before it asks for a password. */
function requireMail(roots: readonly string[]): void {
  for (const root of roots)
    if (!existsSync(root)) throw new UsageError(`File or folder not found: ${root}.`)
  const all = roots.map(findFolders)
  if (all.some(({ folders }) => folders.length > 0)) return
  const problems = all.flatMap(({ left }) => left).filter(({ isProblem }) => isProblem)
  const named = problems.slice(0, MAX_NAMED).map(({ path, reason }) => `${path}: ${reason}`)
  const more = problems.length > MAX_NAMED ? [`${problems.length - MAX_NAMED} more.`] : []
  throw new UsageError(
    problems.length > 0
      ? [...named, ...more].join(' ')
      : `No mail was found in ${roots.join(', ')}.`,
  )
}

/** Entries that are printed, of what was left out. `--json` has more of them. */
const MAX_NAMED = 20

/** Prints what was left out: each entry that may have mail, and the number of the others. */
function printLeft(left: readonly LeftOut[]): void {
  const problems = left.filter(({ isProblem }) => isProblem)
  const others = left.filter(({ isProblem, reason }) => !isProblem && reason !== NO_MAIL)
  for (const [list, color, title] of [
    [problems, 'red', 'Left out:'],
    [others, 'dim', 'Not imported:'],
  ] as const) {
    const head = paint(color, title, process.stderr)
    for (const { path, reason, count } of list.slice(0, MAX_NAMED))
      console.error(
        `${head} ${sanitizeForTerminal(path)}: ${count > 1 ? `${countText(count)} × ` : ''}${reason}`,
      )
    if (list.length > MAX_NAMED)
      console.error(`${head} ${countText(list.length - MAX_NAMED)} more, which --json lists.`)
  }
  const without = left.filter(({ reason }) => reason === NO_MAIL)
  const [first] = without
  if (first)
    console.error(
      `${paint('dim', 'Without mail:', process.stderr)} ${without.length === 1 ? 'one file,' : `${countText(without.length)} files, such as`} ${sanitizeForTerminal(first.path)}.`,
    )
}

/** What a person should check after a Takeout was imported. */
function notesOn({ ownLabels, unknownStates }: FoundMail): MigrationNote[] {
  const named = ownLabels.slice(0, MAX_NAMED).join(', ')
  const more = ownLabels.length > MAX_NAMED ? ` and ${ownLabels.length - MAX_NAMED} more` : ''
  return [
    ...(ownLabels.length > 0
      ? [
          {
            folder: '',
            message: `These labels were taken as folders of yours: ${named}${more}. If Gmail made one of them, redirect it with --map.`,
          },
        ]
      : []),
    ...unknownStates.map(({ folder, messages }) => ({
      folder,
      message: `No label says which of ${countText(messages)} messages were read. They are imported as unread.`,
    })),
  ]
}

type ImportDeps = {
  flags: ImportFlags
  json: boolean
  account: Awaited<ReturnType<typeof accountOfSide>>
  signal: AbortSignal
}

async function copy(
  roots: readonly string[],
  { flags, json, account, signal }: ImportDeps,
): Promise<number> {
  const state = flags.state ?? stateFolder()
  const source = filesAccount(roots)
  const options = {
    prefix: flags.prefix,
    folderMap: folderMapOf(flags.map),
    specialUse: flags['special-use'],
    deduplicate: flags.deduplicate,
    dryRun: flags['dry-run'],
    connections: flags.connections,
    withNewMail: true,
  }
  const path = journalPath({ source, destination: account }, options, state, [flags.labels])
  const journal = openFileJournal(path, { retry: flags.retry, isDry: flags['dry-run'] })
  const bars = createBars(process.stderr)
  const began = performance.now()
  let files: SourceThread | null = null
  try {
    if (!json) console.error('Reading the files …')
    // An earlier run may have copied any message, so a later one has to know all of them.
    const isFirst = (await journal.loadAll()).size === 0
    const inParts = isFirst && !flags['dry-run'] && flags.folder.length === 0
    const thread = startSource({ roots, state, labels: flags.labels, inParts }, signal)
    files = thread
    let mail: FoundMail = {
      folders: [],
      isWhole: false,
      left: [],
      ownLabels: [],
      unknownStates: [],
    }
    const onWhole = (whole: FoundMail) => {
      mail = whole
      if (json) return
      bars.end()
      printLeft(mail.left)
      console.error(tableOf(chooseFolders(mail.folders, flags.folder)))
    }
    const outcome = await copyParts(thread, onWhole, ({ folders, arriving, notes }) => {
      const chosen = chooseFolders(folders, flags.folder)
      return migrateMailbox({
        source: { account: source, openSession: thread.openSession },
        destination: { account },
        folders: chosen.map((folder) => folder.path),
        options,
        recordsDigests: false,
        sizes: new Map(chosen.map((folder) => [folder.path, folder.bytes])),
        arriving,
        journal,
        notes,
        signal,
        log: createCommandLog(readConfig(), 'error'),
        ...(!json && { onProgress: (progress) => bars.show(progress) }),
      })
    })
    bars.end()
    const seconds = (performance.now() - began) / 1_000
    return report(
      {
        ...outcome,
        notes: [...outcome.notes, ...notesOn(mail)],
        isDry: flags['dry-run'],
        failures: journal.failures,
        seconds,
        // A report may not have room for all.
        leftOut: mail.left.toSorted((a, b) => Number(b.isProblem) - Number(a.isProblem)),
      },
      json,
    )
  } finally {
    bars.end()
    journal.close()
    await files?.close()
  }
}

type Part = {
  folders: readonly SourceFolder[]
  arriving: Arriving
  notes: readonly MigrationNote[]
}

/**
 * Copies messages while others are read. The only folder grows while it is copied. With several,
 * all that were found until then are copied each time, as a later run copies only new messages.
 * After a failure, the rest follows at once, so that a folder fails once more and not with each
 * part.
 * @param onWhole called once everything is found
 */
async function copyParts(
  files: SourceThread,
  onWhole: (mail: FoundMail) => void,
  copyPart: (part: Part) => Promise<MigrationOutcome>,
): Promise<MigrationOutcome> {
  let notes: readonly MigrationNote[] = []
  let latest = await find()
  for (;;) {
    let covered = latest
    const arriving: Arriving = async (path) => {
      if (latest.isWhole || latest.folders.length > 1) return null
      latest = await find()
      const [only, ...others] = latest.folders
      if (only?.path !== path || others.length > 0) return null
      covered = latest
      return only.bytes
    }
    const outcome = await copyPart({ folders: covered.folders, arriving, notes })
    if (covered.isWhole || outcome.stopped) return outcome
    notes = outcome.notes
    if (latest === covered) latest = await find()
    while (outcome.state === 'failed' && !latest.isWhole) latest = await find()
  }

  async function find(): Promise<FoundMail> {
    const mail = await files.found()
    if (mail.isWhole) onWhole(mail)
    return mail
  }
}

function chooseFolders(folders: readonly SourceFolder[], wanted: readonly string[]) {
  for (const path of wanted)
    if (!folders.some((folder) => folder.path === path))
      throw new UsageError(`Folder not found: ${path}.`)
  return folders
    .filter(({ path }) => wanted.length === 0 || wanted.includes(path))
    .map((folder) => ({ ...folder, specialUse: null }))
}

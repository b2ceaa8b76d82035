import { resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import { openFileJournal } from '../../migration/engine/journal/file-journal.ts'
import { migrateMailbox } from '../../migration/engine/migrate.ts'
import type { ExportFormat } from '../../migration/files/formats/mail-export-formats.ts'
import { openDestination } from '../../migration/files/open-destination.ts'
import { openStoreSession } from '../../migration/files/server/serve-store.ts'
import { listFolderSizes } from '../../migration/folder-sizes.ts'
import type { AdministratorMethod, SignIn } from '../../net/imap/connection/imap-sign-in.ts'
import { journalPath, stateFolder } from '../migrate/journal-path.ts'
import { accountOfSide } from '../migrate/migrate-accounts.ts'
import { report, tableOf } from '../migrate/migrate-report.ts'
import { createBars } from '../migrate/progress-bars.ts'
import { asFault, codeOfStop, folderMapOf, stopOnSignal } from '../migrate/run-migration.ts'
import { createCommandLog } from '../terminal-log.ts'
import { filesAccount } from './files-account.ts'

type ExportFlags = {
  source: string
  format: ExportFormat
  folder: string[]
  prefix: string
  map: string[]
  'all-mail-once': boolean
  retry: boolean
  'dry-run': boolean
  'no-verify': boolean
  state: string | undefined
  'source-password-file': string | undefined
  'source-admin': string | undefined
  'source-admin-method': AdministratorMethod
}

/** @returns the exit code: 0 when every message was copied */
export async function runExport(root: string, flags: ExportFlags, json: boolean): Promise<number> {
  const account = await accountOfSide('source', {
    url: flags.source,
    passwordFile: flags['source-password-file'],
    admin: flags['source-admin'],
    adminMethod: flags['source-admin-method'],
    noVerify: flags['no-verify'],
  })
  const signal = stopOnSignal()
  try {
    return await copy(resolve(root), account, { flags, json, signal })
  } catch (error) {
    return codeOfStop(signal, error)
  }
}

type ExportDeps = { flags: ExportFlags; json: boolean; signal: AbortSignal }

async function copy(root: string, account: SignIn, deps: ExportDeps): Promise<number> {
  const { flags, json, signal } = deps
  const state = flags.state ?? stateFolder()
  const destination = filesAccount([root])
  const options = {
    prefix: flags.prefix,
    folderMap: folderMapOf(flags.map),
    allMailOnce: flags['all-mail-once'],
    deduplicate: true,
    dryRun: flags['dry-run'],
    // The messages of a file are written one after another.
    connections: 1,
    withNewMail: true,
  }
  const surveyed = await asFault(listFolderSizes({ account }, signal))
  const isChosen = (path: string) => flags.folder.length === 0 || flags.folder.includes(path)
  const chosen = surveyed.filter(({ path }) => isChosen(path))
  if (!json) console.error(tableOf(chosen))
  const path = journalPath({ source: account, destination }, options, state, [flags.format])
  const journal = openFileJournal(path, { retry: flags.retry, isDry: flags['dry-run'] })
  const bars = createBars(process.stderr)
  const began = performance.now()
  const store = await openDestination(root, flags.format, {
    state,
    signal,
    isDry: flags['dry-run'],
  })
  try {
    const outcome = await migrateMailbox({
      source: { account },
      destination: { account: destination, openSession: () => openStoreSession(store) },
      folders: flags.folder.length === 0 ? 'all' : [...new Set(flags.folder)],
      options,
      recordsDigests: false,
      sizes: new Map(chosen.map((folder) => [folder.path, folder.bytes])),
      journal,
      signal,
      log: createCommandLog(readConfig(), 'error'),
      ...(!json && { onProgress: (progress) => bars.show(progress) }),
    })
    bars.end()
    const seconds = (performance.now() - began) / 1_000
    const { failures } = journal
    const notes = [...outcome.notes, ...store.notes()]
    return report({ ...outcome, notes, isDry: flags['dry-run'], failures, seconds }, json)
  } finally {
    bars.end()
    store.close()
    journal.close()
  }
}

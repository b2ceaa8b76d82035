import type { MigrateOptions } from '../../migration/engine/options.ts'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { Fault, messageOf } from '../../errors.ts'
import { createLog } from '../../log.ts'
import { openFileJournal } from '../../migration/engine/journal/file-journal.ts'
import { migrateMailbox } from '../../migration/engine/migrate.ts'
import { listFolderSizes } from '../../migration/folder-sizes.ts'
import { ImapLost, ImapRefused } from '../../net/imap/connection/refusals.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { accountsOf, type Accounts } from './migrate-accounts.ts'
import { report, tableOf, type Reported } from './migrate-report.ts'
import { createBars } from './progress-bars.ts'

const USAGE = `Usage: portreeve migrate --source imaps://USER@HOST --destination imaps://USER@HOST (--all | --folder F…)

Copies folders of one IMAP account to another and verifies every message. Needs no service and no database.
Ctrl-C stops it. Run the same command again to continue, and later to copy new messages.

  --source URL, --destination URL    imaps://user@host[:port] (TLS) or imap://user@host[:port] (STARTTLS)
  --all                 all folders
  --folder F            a folder, named as in the table; may be repeated
  --prefix P            put everything under P: INBOX becomes P/INBOX
  --map F=G             copy folder F to G; may be repeated
  --special-use         map sent mail, drafts, trash and others to the destination’s special-use folders
  --deduplicate         skip messages that already exist in the destination folder
  --all-mail-once       from Gmail’s All Mail, copy only messages that no other folder has
  --retry               retry messages that failed before
  --connections N       maximum number of connection pairs (4)
  --dry-run             show the folders and their destinations, copy nothing
  --no-verify           accept invalid TLS certificates
  --state FOLDER        folder for the state of migrations (DATA_DIR/migrations)
  --source-password-file FILE, --destination-password-file FILE
  --json                print the report as JSON

Passwords come from these files, from PORTREEVE_SOURCE_PASSWORD and PORTREEVE_DESTINATION_PASSWORD, or from a prompt.
For OAuth access tokens, set PORTREEVE_SOURCE_TOKEN and PORTREEVE_DESTINATION_TOKEN.`

const OPTIONS = {
  source: { type: 'string' },
  destination: { type: 'string' },
  'source-password-file': { type: 'string' },
  'destination-password-file': { type: 'string' },
  all: { type: 'boolean', default: false },
  folder: { type: 'string', multiple: true, default: [] as string[] },
  prefix: { type: 'string', default: '' },
  map: { type: 'string', multiple: true, default: [] as string[] },
  'special-use': { type: 'boolean', default: false },
  deduplicate: { type: 'boolean', default: false },
  'all-mail-once': { type: 'boolean', default: false },
  retry: { type: 'boolean', default: false },
  connections: { type: 'string', default: '4' },
  'dry-run': { type: 'boolean', default: false },
  'no-verify': { type: 'boolean', default: false },
  state: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

export const migrateCommand: CliCommand = {
  name: 'migrate',
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args, options: OPTIONS })
    const work = { folders: foldersOf(values), options: optionsOf(values) }
    const accounts = await accountsOf(values)
    const stop = stopOnSignal()
    try {
      return report(await copy(accounts, work, values, stop), values.json)
    } catch (error) {
      if (!stop.aborted) throw error
      console.error('Stopped. Run the same command to continue.')
      return 1
    }
  },
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']
type Work = { folders: string[] | 'all'; options: MigrateOptions }

function foldersOf({ all, folder }: Values): string[] | 'all' {
  if (all === folder.length > 0)
    throw new UsageError('Choose folders with --all, or with --folder for each one.')
  return all ? 'all' : [...new Set(folder)]
}

function optionsOf(values: Values): MigrateOptions {
  const connections = Number(values.connections)
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= 16)) {
    throw new UsageError('--connections must be a number from 1 to 16.')
  }
  const pairs = values.map.map((text) => {
    const at = text.indexOf('=')
    if (at < 1 || at === text.length - 1)
      throw new UsageError(`--map ${text} must have the form F=G.`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return {
    prefix: values.prefix,
    deduplicate: values.deduplicate,
    allMailOnce: values['all-mail-once'],
    specialUse: values['special-use'],
    dryRun: values['dry-run'],
    connections,
    folderMap: Object.fromEntries(pairs),
    withNewMail: true,
  }
}

/** Aborts at the first Ctrl-C; a second one ends the process at once. */
function stopOnSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(1))
      stop.abort(new Error('stopped'))
    })
  }
  return stop.signal
}

async function asFault<T>(work: Promise<T>): Promise<T> {
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
  values: Values,
  signal: AbortSignal,
): Promise<Reported> {
  const { json, retry, state } = values
  const surveyed = await asFault(listFolderSizes(accounts.source, signal))
  const chosen = surveyed.filter(({ path }) => folders === 'all' || folders.includes(path))
  if (!json) console.error(tableOf(chosen))
  const bars = createBars(process.stderr)
  const journal = openFileJournal(journalPath(accounts, options, state), {
    retry,
    isDry: values['dry-run'],
  })
  const began = performance.now()
  try {
    const outcome = await migrateMailbox({
      source: { account: accounts.source },
      destination: { account: accounts.destination },
      folders,
      options,
      sizes: new Map(chosen.map(({ path, bytes }) => [path, bytes])),
      journal,
      signal,
      log: createLog('error', process.stderr),
      ...(!json && { onProgress: (progress) => bars.show(progress) }),
    })
    const seconds = (performance.now() - began) / 1000
    return { ...outcome, isDry: values['dry-run'], failures: journal.failures, seconds }
  } finally {
    bars.end()
    journal.close()
  }
}

/** One file for each pair of accounts and each way of mapping between them. */
function journalPath(
  { source, destination }: Accounts,
  { prefix, folderMap, specialUse }: MigrateOptions,
  state = join(readConfig().DATA_DIR, 'migrations'),
): string {
  const ends = [source, destination].map(
    ({ target, port, user }) => `${user}@${target.host}:${port}`,
  )
  const key = createHash('sha256')
    .update(JSON.stringify([ends, prefix, folderMap, specialUse]))
    .digest('hex')
    .slice(0, 12)
  const name = ends
    .join('--')
    .replace(/[^\w.@-]+/g, '_')
    .slice(0, 120)
  return join(state, `${name}-${key}.jsonl`)
}

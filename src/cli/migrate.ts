import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readCommandSecret, readConfig } from '../config.ts'
import { Fault, messageOf } from '../errors.ts'
import { createLog } from '../log.ts'
import { openFileJournal } from '../migration/file-journal.ts'
import type { Failure } from '../migration/journal.ts'
import { migrateMailbox, type MigrateOptions, type Outcome } from '../migration/migrate.ts'
import { accountOf } from '../migration/sides.ts'
import { survey, type SurveyedFolder } from '../migration/survey.ts'
import { createResolver } from '../net/dns.ts'
import { ImapLost, ImapRefused } from '../net/imap/refusals.ts'
import type { SignIn } from '../net/imap/session.ts'
import { UsageError, type Command } from './command.ts'
import { createBars, numberText, sizeText, timeText } from './progress-bars.ts'
import { askSecret } from './prompt.ts'
import { foreign, paint, table } from './text.ts'

const USAGE = `Usage: portreeve migrate --source imaps://USER@HOST --destination imaps://USER@HOST (--all | --folder F…)

Copies folders of one IMAP account into another, and checks that everything arrived. Needs no service and no database.
Ctrl-C stops it; the same command goes on where it was, and later copies what came since.

  --source URL, --destination URL    imaps://user@host[:port] (TLS) or imap://user@host[:port] (STARTTLS)
  --all                 all folders
  --folder F            a folder, as the table shows it; may be repeated
  --prefix P            put everything under P: INBOX becomes P/INBOX
  --map F=G             put folder F into G; may be repeated
  --special-use         put sent mail, drafts, trash … into the destination's own folders for them
  --deduplicate         leave out messages that are in the destination folder already
  --retry               try once more what failed before
  --connections N       at most so many pairs of connections (4)
  --dry-run             show what would go where, copy nothing
  --no-verify           accept a certificate that does not verify
  --state FOLDER        where the state is kept (DATA_DIR/migrations)
  --source-password-file FILE, --destination-password-file FILE
  --json                print the report as JSON

Passwords are asked for, or come from those files or from PORTREEVE_SOURCE_PASSWORD and PORTREEVE_DESTINATION_PASSWORD
(PORTREEVE_SOURCE_TOKEN and PORTREEVE_DESTINATION_TOKEN for OAuth access tokens).`

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
  retry: { type: 'boolean', default: false },
  connections: { type: 'string', default: '4' },
  'dry-run': { type: 'boolean', default: false },
  'no-verify': { type: 'boolean', default: false },
  state: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

export const migrateCommand: Command = {
  name: 'migrate',
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args, options: OPTIONS })
    const { json } = values
    const folders = foldersOf(values)
    const options = optionsOf(values)
    const sides = await sidesOf(values)
    const stop = stopOnSignal()
    try {
      const surveyed = await faultless(survey(sides.source, stop))
      if (!json) console.error(tableOf(surveyed, folders))
      const outcome = await copy(sides, folders, options, values, stop)
      return report(outcome, json)
    } catch (error) {
      if (!stop.aborted) throw error
      console.error('Stopped. The same command goes on where it was.')
      return 1
    }
  },
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']
type Sides = { source: SignIn; destination: SignIn }

function foldersOf({ all, folder }: Values): string[] | 'all' {
  if (all === folder.length > 0) throw new UsageError('say which folders: --all, or --folder for each')
  return all ? 'all' : [...new Set(folder)]
}

function optionsOf(values: Values): MigrateOptions {
  const connections = Number(values.connections)
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= 16)) {
    throw new UsageError('--connections is a number from 1 to 16')
  }
  const pairs = values.map.map((text) => {
    const at = text.indexOf('=')
    if (at < 1 || at === text.length - 1) throw new UsageError(`--map ${text} is not of the form F=G`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  const { prefix, deduplicate } = values
  const [specialUse, dryRun] = [values['special-use'], values['dry-run']]
  return {
    prefix,
    deduplicate,
    specialUse,
    dryRun,
    connections,
    folderMap: Object.fromEntries(pairs),
    withNewMail: true,
  }
}

async function sidesOf(values: Values): Promise<Sides> {
  const source = addressOf(values.source, '--source')
  const destination = addressOf(values.destination, '--destination')
  const secrets = {
    source: await secretFor('SOURCE', source.user, values['source-password-file']),
    destination: await secretFor('DESTINATION', destination.user, values['destination-password-file']),
  }
  const resolver = createResolver({ servers: readConfig().DNS_SERVERS })
  // Whoever sits at this terminal can connect to private addresses anyway.
  const deps = { resolver, allowPrivate: true }
  const [tlsVerify, signal] = [!values['no-verify'], AbortSignal.timeout(15_000)]
  try {
    return {
      source: await accountOf({ ...source, ...secrets.source, tlsVerify }, deps, signal),
      destination: await accountOf({ ...destination, ...secrets.destination, tlsVerify }, deps, signal),
    }
  } finally {
    resolver.close()
  }
}

/** `imaps://alice@example.org@imap.example.org:993`: the host is what follows the last @. */
function addressOf(url: string | undefined, option: string) {
  const match = /^(imaps?):\/\/(.+)@(\[[^\]]+\]|[^@/:]+)(?::(\d{1,5}))?\/?$/i.exec(url ?? '')
  if (!match) throw new UsageError(`${option} must be imaps://user@host or imap://user@host`)
  const [, scheme = '', user = '', host = '', port] = match
  if (/:/.test(user))
    throw new UsageError(`${option} must not have a password in it: others on this machine would see it`)
  const secure = scheme.toLowerCase() === 'imaps'
  return { host, user: decodeURIComponent(user), secure, port: Number(port ?? (secure ? 993 : 143)) }
}

async function secretFor(side: 'SOURCE' | 'DESTINATION', user: string, file: string | undefined) {
  const accessToken = readCommandSecret(`PORTREEVE_${side}_TOKEN`)
  if (accessToken !== undefined) return { accessToken }
  const told = file === undefined ? readCommandSecret(`PORTREEVE_${side}_PASSWORD`) : firstLineOf(file)
  const password = told ?? (await askSecret(`Password of ${user} (${side.toLowerCase()})`))
  if (!password) throw new UsageError(`there is no password for the ${side.toLowerCase()}`)
  return { password }
}

function firstLineOf(file: string): string {
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}`)
  return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? ''
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

async function faultless<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ImapRefused || error instanceof ImapLost)) throw error
    throw new Fault('upstream_rejected', messageOf(error), { cause: error })
  }
}

function tableOf(surveyed: readonly SurveyedFolder[], folders: string[] | 'all'): string {
  const chosen = surveyed.filter(({ path }) => folders === 'all' || folders.includes(path))
  const rows = chosen.map(({ path, messages, bytes }) => [
    numberText(messages).padStart(9),
    sizeText(bytes).padStart(9),
    foreign(path),
  ])
  const [messages, bytes] = [
    chosen.reduce((sum, f) => sum + f.messages, 0),
    chosen.reduce((sum, f) => sum + f.bytes, 0),
  ]
  const total = [numberText(messages).padStart(9), sizeText(bytes).padStart(9), `${chosen.length} folders`]
  const head = ['messages'.padStart(9), 'size'.padStart(9), 'folder'].map((text) => paint('dim', text))
  return `${table([head, ...rows, total.map((text) => paint('bold', text))])}\n`
}

type Reported = Outcome & { failures: readonly Failure[]; seconds: number }

async function copy(
  { source, destination }: Sides,
  folders: string[] | 'all',
  options: MigrateOptions,
  values: Values,
  signal: AbortSignal,
): Promise<Reported> {
  const bars = createBars(process.stderr)
  const journal = openFileJournal(journalPath(source, destination, options, values.state), { retry: values.retry })
  const began = performance.now()
  try {
    const outcome = await migrateMailbox({
      source: { account: source },
      destination: { account: destination },
      folders,
      options,
      journal,
      signal,
      log: createLog('error', process.stderr),
      ...(!values.json && { onProgress: (progress) => bars.show(progress) }),
    })
    return { ...outcome, failures: journal.failures, seconds: (performance.now() - began) / 1000 }
  } finally {
    bars.end()
    journal.close()
  }
}

/** One file for each pair of accounts and each way of mapping between them. */
function journalPath(
  source: SignIn,
  destination: SignIn,
  { prefix, folderMap, specialUse }: MigrateOptions,
  state?: string,
) {
  const ends = [source, destination].map(({ target, port, user }) => `${user}@${target.host}:${port}`)
  const key = createHash('sha256')
    .update(JSON.stringify([ends, prefix, folderMap, specialUse]))
    .digest('hex')
    .slice(0, 12)
  const name = ends
    .join('--')
    .replace(/[^\w.@-]+/g, '_')
    .slice(0, 120)
  return join(state ?? join(readConfig().DATA_DIR, 'migrations'), `${name}-${key}.jsonl`)
}

function report(outcome: Reported, json: boolean): number {
  const { state, progress, folders, notes, stopped, failures, seconds } = outcome
  if (json) {
    console.log(
      JSON.stringify({
        success: state === 'completed',
        status: state,
        seconds,
        progress,
        folders,
        notes,
        stopped,
        errors: failures,
      }),
    )
    return state === 'completed' ? 0 : 1
  }
  const altered = folders.filter((folder) => folder.altered)
  for (const { source, destination } of altered) console.log(`  ${foreign(source)}  →  ${foreign(destination)}`)
  for (const { folder, uid, message } of notes)
    console.log(`  ${foreign(folder)}${uid ? ` ${uid}` : ''}: ${foreign(message)}`)
  for (const { folder, uid, code, message } of failures) {
    console.log(`  ${paint('red', code)} ${foreign(folder)}${uid ? ` ${uid}` : ''}: ${foreign(message)}`)
  }
  console.log(sentenceOf(outcome, seconds))
  return state === 'completed' ? 0 : 1
}

function sentenceOf({ state, progress, stopped }: Reported, seconds: number): string {
  const { messagesDone, messagesTotal, skippedByDedup, errorCount, foldersTotal, bytesDone } = progress
  const there = skippedByDedup > 0 ? `, ${numberText(skippedByDedup)} of them there already` : ''
  const counts = `${numberText(messagesDone)} of ${numberText(messagesTotal)} messages in ${foldersTotal} folders${there}, ${sizeText(bytesDone)}, in ${timeText(seconds)}.`
  if (state === 'completed') return `${paint('green', 'Verified:')} ${counts}`
  const why = stopped ? ` ${foreign(stopped.message)}` : ''
  return `${paint('red', `${numberText(errorCount)} not copied:`)} ${counts}${why} The same command goes on; --retry tries the failed ones again.`
}

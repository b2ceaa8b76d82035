import { readFileSync, statSync, existsSync } from 'node:fs'
import { readConfig } from '../../config.ts'
import { Fault, messageOf } from '../../errors.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { resolveAccount } from '../../migration/mailbox-accounts.ts'
import { BATCH_LIMITS } from '../../migration/batches/limits.ts'
import { decodeText } from '../../migration/batches/parse/decode-text.ts'
import { readMailboxes, type ReadMailbox } from '../../migration/batches/parse/read-mailboxes.ts'
import type { SideDefaults } from '../../migration/batches/parse/read-side.ts'
import type { MigrationAccount } from '../../migration/engine/connections/fresh-sign-in.ts'
import { openFileJournal } from '../../migration/engine/journal/file-journal.ts'
import { migrateMailbox } from '../../migration/engine/migrate.ts'
import type { MigrateOptions } from '../../migration/engine/migration-options.ts'
import type { AccountAddress } from '../../migration/migrations.sql.ts'
import { readSourceDigest } from '../../migration/sync/checks/check-source.ts'
import { createResolver, type Resolver } from '../../net/dns.ts'
import { UsageError } from '../command.ts'
import { createCommandLog } from '../terminal-log.ts'
import { paint, sanitizeForTerminal } from '../terminal-text.ts'
import { describeChanges, describeHeld, intervalOf, waitForPass } from './every.ts'
import type { MigrateFlags } from './migrate-flags.ts'
import { journalPath } from './journal-path.ts'
import {
  hasAdministrator,
  openAdministrator,
  type OpenMailboxTokens,
} from './administrator-sign-in.ts'
import { administratorOf, appSecretOf } from './migrate-accounts.ts'
import { countText, timeText } from './progress-bars.ts'

/** What became of one mailbox. */
type Result = {
  line: number
  source: string
  destination: string
  status: 'completed' | 'failed' | 'invalid'
  messages: number
  message: string | null
}

type BatchRun = {
  flags: MigrateFlags
  options: MigrateOptions
  resolver: Resolver
  stop: AbortSignal
  /** Rejected sign-ins in a row, by host. */
  rejections: Map<string, number>
  /** The tokens of a side that an administrator’s sign-in opens. */
  tokens: { source?: OpenMailboxTokens; destination?: OpenMailboxTokens }
  /** With `--every`: the state of the source before the last pass, by line. */
  seen: Map<number, string | null>
}

/**
 * Copies every mailbox of a list, several at once, and prints a line for each.
 * @returns the exit code: 0 when all were copied completely
 */
export async function runBatch(
  flags: MigrateFlags & { batch: string },
  options: MigrateOptions,
  json: boolean,
  stop: AbortSignal,
): Promise<number> {
  const mailboxes = readList(flags)
  const resolver = createResolver({ servers: readConfig().DNS_SERVERS })
  const interval = intervalOf(flags)
  const seen = new Map<number, string | null>()
  try {
    const tokens = await openTokensOf(flags, resolver)
    const rejections = new Map<string, number>()
    const run = { flags, options, resolver, stop, rejections, tokens, seen }
    let code = await runPass(mailboxes, run, json)
    if (interval === null) return code
    while (await waitForPass(interval, stop)) {
      run.rejections.clear()
      code = await runPass(mailboxes, run, json)
    }
    return code
  } finally {
    resolver.close()
  }
}

/** Opens the administrators’ sign-ins of both sides, before the first mailbox. */
async function openTokensOf(flags: MigrateFlags, resolver: Resolver): Promise<BatchRun['tokens']> {
  const tokens: BatchRun['tokens'] = {}
  for (const side of ['source', 'destination'] as const) {
    const given = {
      serviceAccount: flags[`${side}-service-account`],
      app: flags[`${side}-app`],
      appCertificate: flags[`${side}-app-certificate`],
    }
    if (!hasAdministrator(given)) continue
    const passwordFile = flags[`${side}-password-file`]
    const readSecret = appSecretOf(side, { ...given, passwordFile })
    tokens[side] = await openAdministrator(given, resolver, readSecret)
  }
  return tokens
}

/** Copies every mailbox once. @returns the exit code */
async function runPass(
  mailboxes: readonly ReadMailbox[],
  run: BatchRun,
  json: boolean,
): Promise<number> {
  const { flags, stop } = run
  const began = performance.now()
  const results: Result[] = []
  await forEachConcurrently(mailboxes, flags.parallel, async (mailbox) => {
    if (stop.aborted) return
    const result = await copyOne(mailbox, run)
    if (stop.aborted) return
    results.push(result)
    print(result, { done: results.length, total: mailboxes.length, json })
  })
  if (stop.aborted) throw stop.reason
  const copied = results.filter(({ status }) => status === 'completed').length
  const seconds = (performance.now() - began) / 1_000
  if (!json) console.log(summaryOf(copied, results, seconds))
  return copied === results.length ? 0 : 1
}

function readList({
  batch: file,
  source,
  destination,
  'no-verify': isUnverified,
  'same-password': samePassword,
  ...admins
}: MigrateFlags & { batch: string }): ReadMailbox[] {
  if (!existsSync(file)) throw new UsageError(`File not found: ${file}.`)
  if (statSync(file).size > BATCH_LIMITS.maxFileBytes)
    throw new UsageError(`${file} is larger than 2 MB. Split it.`)
  const tlsVerify = !isUnverified
  const isSignedIn = (side: 'source' | 'destination') =>
    (admins[`${side}-service-account`] ?? admins[`${side}-app`]) !== undefined
  const list = readMailboxes(decodeText(readFileSync(file)), {
    source: {
      ...serverOf(source, '--source'),
      ...administratorOf(admins['source-admin'], admins['source-admin-method']),
      ...(isSignedIn('source') && NO_PASSWORD),
      tlsVerify,
    },
    destination: {
      ...serverOf(destination, '--destination'),
      ...administratorOf(admins['destination-admin'], admins['destination-admin-method']),
      ...(isSignedIn('destination') && NO_PASSWORD),
      tlsVerify,
    },
    samePassword,
  })
  if (list.columns.some((field) => field !== null)) return list.mailboxes
  throw new UsageError(
    'The columns were not recognized. Add a first line with their names, such as source_host,source_user,source_password,destination_user,destination_password.',
  )
}

/** Lines need no password: a sign-in for all mailboxes takes its place. */
const NO_PASSWORD = { credentialId: 'of the command' }

/** `imaps://imap.example.org:993`: the server of the lines that name none. */
function serverOf(url: string | undefined, option: string): SideDefaults {
  if (url === undefined) return {}
  const match = /^(imaps?):\/\/(\[[^\]]+\]|[^@/:]+)(?::(\d{1,5}))?\/?$/i.exec(url)
  if (!match) throw new UsageError(`With --batch, ${option} must be imaps://host or imap://host.`)
  const [, scheme = '', host = '', port] = match
  const secure = scheme.toLowerCase() === 'imaps'
  return { host, secure, port: Number(port ?? (secure ? 993 : 143)) }
}

async function copyOne(mailbox: ReadMailbox, run: BatchRun): Promise<Result> {
  const { line, source, destination, problem } = mailbox
  const result = { line, source: nameOf(source), destination: nameOf(destination) }
  if (problem !== null) return { ...result, status: 'invalid', messages: 0, message: problem }
  const hosts = [source.host, destination.host] as string[]
  const held = hosts.find((host) => (run.rejections.get(host) ?? 0) >= BATCH_LIMITS.maxRejections)
  if (held !== undefined) {
    const message = `Skipped: ${held} rejected ${BATCH_LIMITS.maxRejections} sign-ins in a row. Correct the passwords and run the command again.`
    return { ...result, status: 'failed', messages: 0, message }
  }
  try {
    const from = await accountOf('source', mailbox, run)
    const to = await accountOf('destination', mailbox, run)
    const { flags, options, stop, seen } = run
    const before = seen.get(line) ?? null
    if (before !== null && (await readSourceDigest(from, [], stop)) === before)
      return { ...result, status: 'completed', messages: 0, message: 'nothing new' }
    const journal = openFileJournal(
      journalPath({ source: from.account, destination: to.account }, options, flags.state),
      {
        retry: flags.retry,
        isDry: flags['dry-run'],
      },
    )
    try {
      const { state, progress, sync, stopped } = await migrateMailbox({
        source: from,
        destination: to,
        folders: 'all',
        options,
        journal,
        signal: stop,
        log: createCommandLog(readConfig(), 'error'),
      })
      countRejection(run, stopped, source, destination)
      const { messagesDone, messagesTotal, errorCount } = progress
      const messages = options.dryRun ? messagesTotal : messagesDone
      const failed = stopped?.message ?? `${countText(errorCount)} not copied.`
      const isLater = seen.has(line)
      if (sync) seen.set(line, sync.seen)
      const waiting = sync && describeHeld(sync.held)
      const message = waiting ?? (isLater && sync ? describeChanges(sync.changes) : null)
      return { ...result, status: state, messages, message: state === 'failed' ? failed : message }
    } finally {
      journal.close()
    }
  } catch (error) {
    if (run.stop.aborted || error instanceof Fault)
      return { ...result, status: 'failed', messages: 0, message: messageOf(error) }
    throw error
  }
}

function countRejection(
  { rejections }: BatchRun,
  stopped: { code: string; message: string } | null,
  ...sides: Partial<AccountAddress>[]
): void {
  for (const { host = '', port } of sides) {
    if (stopped?.code !== 'sign_in') rejections.delete(host)
    else if (stopped.message.includes(`${host}:${port}`))
      return void rejections.set(host, (rejections.get(host) ?? 0) + 1)
  }
}

async function accountOf(
  side: 'source' | 'destination',
  { passwords, ...mailbox }: ReadMailbox,
  { resolver, stop, tokens }: BatchRun,
): Promise<MigrationAccount> {
  const { credentialId, ...address } = mailbox[side] as AccountAddress
  // The user of this terminal can connect to private addresses anyway.
  const deps = { resolver, allowPrivate: true }
  const signal = AbortSignal.any([stop, AbortSignal.timeout(15_000)])
  const openTokens = credentialId === undefined ? undefined : tokens[side]
  const secret = openTokens ? {} : { password: passwords[side] }
  const account = await resolveAccount({ ...address, ...secret }, deps, signal)
  return { account, freshToken: openTokens?.(address) }
}

const nameOf = ({ user = '?', host = '?' }: Partial<AccountAddress>) => `${user} on ${host}`

type Position = { done: number; total: number; json: boolean }

function print(result: Result, { done, total, json }: Position): void {
  if (json) return console.log(JSON.stringify(result))
  const { status, source, destination, messages, message, line } = result
  const word =
    status === 'completed'
      ? paint('green', 'copied', process.stdout)
      : paint('red', status, process.stdout)
  const what = `${sanitizeForTerminal(source)} → ${sanitizeForTerminal(destination)}`
  const why = message === null ? '' : `: ${sanitizeForTerminal(message)}`
  console.log(
    `${done}/${total} ${word} line ${line}, ${what}, ${countText(messages)} messages${why}`,
  )
}

function summaryOf(copied: number, results: readonly Result[], seconds: number): string {
  const messages = results.reduce((sum, result) => sum + result.messages, 0)
  const failed = results.length - copied
  const rest =
    failed === 0 ? '' : ` ${countText(failed)} failed: correct them and run the same command again.`
  return `${countText(copied)} of ${countText(results.length)} mailboxes, ${countText(messages)} messages, in ${timeText(seconds)}.${rest}`
}

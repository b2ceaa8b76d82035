import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findReading } from '../../exchange/abuse-mails/bounces/bounces.sql.ts'
import { currentInstallation, readConfig, requireSettings, type Config } from '../../config.ts'
import { checkBackups } from '../../diagnostics/backups/check-backups.ts'
import { createCheckServices, type CheckDeps } from '../../diagnostics/check-services.ts'
import { checkBounces } from '../../diagnostics/health/check-bounces.ts'
import {
  bad,
  doubtful,
  checkBlocklists,
  checkClock,
  checkDate,
  checkResolver,
  good,
  type Finding,
} from '../../diagnostics/health/service-checks.ts'
import { Fault, messageOf } from '../../errors.ts'
import { createLog } from '../../log.ts'
import { parseHost } from '../../net/address.ts'
import { startConversation } from '../../net/tls/conversation.ts'
import { checkTarget, openSocket, type Target } from '../../net/guard.ts'
import { probeTls } from '../../net/tls/probe-tls.ts'
import { openObjectStore } from '../../store/archive/open-store.ts'
import { readStatus } from '../../store/archive/archive-status.ts'
import { databaseState, type Db } from '../../store/database.ts'
import { databaseIn } from '../../store/embedded/upgrade.ts'
import { listMissingFiles } from '../../data-files.ts'
import { ENCRYPTED_COLUMNS } from '../../encrypted-columns.ts'
import { findKeyProblem } from '../../store/secret-key.ts'
import { withDatabase } from '../database-access.ts'
import { findMisspeltSettings } from '../misspelt-settings.ts'
import { sanitizeForTerminal, pad, paint } from '../terminal-text.ts'
import {
  checkBaseUrl,
  checkProxies,
  checkReportDomain,
  checkSmtpCertificate,
} from './check-addresses.ts'
import { checkPorts } from './check-ports.ts'

type Examine = (config: Config, deps: CheckDeps) => Finding[] | Promise<Finding[]>

/** Time limit for each check over the network. */
const TIMEOUT_MS = 5_000

const EXAMINATIONS: Examine[] = [
  dataFolder,
  database,
  backups,
  async (_config, { resolver }) => [await checkResolver(resolver)],
  ({ DATABASE_URL }, { resolver }) => (DATABASE_URL ? [] : checkDate(resolver)),
  (_config, { blocklists }) => checkBlocklists(blocklists),
  checkPorts,
  checkBaseUrl,
  checkProxies,
  checkSmtpCertificate,
  checkReportDomain,
  relay,
]

/** Examines every part of the installation. */
export async function examineAll(): Promise<Finding[]> {
  requireSettings()
  const config = readConfig()
  const { file } = currentInstallation()
  const of = file === null ? 'this environment' : file
  const findings = [good('settings', `The settings of ${of} are valid.`)]
  for (const { given, meant } of findMisspeltSettings())
    findings.push(doubtful('settings', `${given} is no setting. Did you mean ${meant}?`))
  const missing = listMissingFiles()
  if (missing.length > 0)
    return [
      ...findings,
      bad('files', `This installation lacks ${missing.join(', ')}. Install it again.`),
    ]
  const checks = createCheckServices(config, createLog('silent'))
  try {
    for (const examine of EXAMINATIONS) findings.push(...(await examine(config, checks.deps)))
  } finally {
    checks.close()
  }
  return findings
}

const MARKS = { good: paint('green', '✓'), doubtful: paint('yellow', '!'), bad: paint('red', '✗') }

/** One finding on one line. */
export function findingLine({ about, state, sentence }: Finding): string {
  return `  ${MARKS[state]} ${pad(about, 10)}  ${sentence}`
}

/** Free bytes below which the first start fails, or a running database soon stops. */
const MIN_FREE_BYTES = 200e6
const FEW_FREE_BYTES = 1e9

function dataFolder({ DATA_DIR }: Config): Finding[] {
  const isThere = existsSync(DATA_DIR)
  const folder = isThere ? DATA_DIR : existingAbove(DATA_DIR)
  try {
    if (isThere) accessSync(DATA_DIR, constants.R_OK)
    requireWritable(folder)
  } catch (error) {
    const what = isThere ? `${DATA_DIR} is not usable` : `${DATA_DIR} cannot be created`
    const how = 'Make the user that runs Portreeve its owner, or set DATA_DIR.'
    return [bad('data', `${what}: ${messageOf(error)}. ${how}`)]
  }
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const state = isThere ? 'is writable' : 'will be created at the first start'
  const text = `${DATA_DIR} ${state}, with ${(free / 1e9).toFixed(2)} GB free.`
  if (free >= FEW_FREE_BYTES) return [good('data', text)]
  const finding = free < MIN_FREE_BYTES ? bad : doubtful
  return [finding('data', `${text} Free some disk space.`)]
}

function existingAbove(path: string): string {
  const above = dirname(path)
  return existsSync(above) ? above : existingAbove(above)
}

/** Tries it, because root may write anywhere but to some file systems. */
function requireWritable(folder: string): void {
  rmdirSync(mkdtempSync(join(folder, '.portreeve-doctor-')))
}

async function database({
  DATABASE_URL,
  DATA_DIR,
  ABUSE_RETURN_MAILBOX: mailbox,
}: Config): Promise<Finding[]> {
  if (!DATABASE_URL && databaseIn(DATA_DIR) === null) {
    return [good('database', 'The embedded PostgreSQL will be created at the first start.')]
  }
  try {
    const { version, now, bounces, keys } = await withDatabase(async (db, config) => ({
      keys: await secretKey(db, config),
      ...(await databaseState(db)),
      bounces: mailbox ? [checkBounces(await findReading(db, mailbox))] : [],
    }))
    const well = good(
      'database',
      `PostgreSQL ${version} responds and has the schema of this version.`,
    )
    return [well, ...keys, ...(DATABASE_URL ? [checkClock(now)] : []), ...bounces]
  } catch (error) {
    if (error instanceof Fault) return [bad('database', error.message)]
    throw error
  }
}

/** Whether the configured key decrypts the secrets in the database. */
async function secretKey(db: Db, config: Config): Promise<Finding[]> {
  const problem = await findKeyProblem(db, config, ENCRYPTED_COLUMNS)
  return [problem === null ? good('key', 'It decrypts the stored secrets.') : bad('key', problem)]
}

async function backups(config: Config): Promise<Finding[]> {
  const { BACKUP_ARCHIVE, DATABASE_URL, DATA_DIR } = config
  if (DATABASE_URL || databaseIn(DATA_DIR) === null) return []
  if (!BACKUP_ARCHIVE)
    return [
      doubtful(
        'backups',
        'No continuous backups. Set BACKUP_ARCHIVE to a folder on another disk or a bucket: /docs/guide/backups.html#back-up-continuously',
      ),
    ]
  try {
    const store = await openObjectStore(BACKUP_ARCHIVE)
    await store.listFolders()
    return [checkBackups(readStatus(DATA_DIR), config, new Date())]
  } catch (error) {
    return [bad('backups', `${messageOf(error)} Nothing is archived until then.`)]
  }
}

async function relay({ SMTP_URL }: Config, deps: CheckDeps): Promise<Finding[]> {
  if (!SMTP_URL) return [doubtful('mail', 'No email is sent. Set SMTP_URL to your relay.')]
  const { protocol, hostname, port } = new URL(SMTP_URL)
  try {
    if (protocol === 'smtps:') return [await tlsRelay(deps, hostname, Number(port) || 465)]
    const greeting = await firstLine(deps, hostname, Number(port) || 25)
    if (greeting.startsWith('220'))
      return [good('mail', `${hostname} responds: ${sanitizeForTerminal(greeting)}`)]
    return [bad('mail', `${hostname} does not accept mail: ${sanitizeForTerminal(greeting)}`)]
  } catch (error) {
    return [bad('mail', `${messageOf(error)} Check SMTP_URL.`)]
  }
}

async function tlsRelay(deps: CheckDeps, host: string, port: number): Promise<Finding> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const target = await reach(deps, host, signal)
  const { isTrusted, hostnameMatches, protocol } = await probeTls({ target, port, signal })
  if (isTrusted && hostnameMatches) return good('mail', `${host} responds over ${protocol}.`)
  return bad(
    'mail',
    `The certificate of ${host} is not trusted, so no email is sent through it. Fix the certificate.`,
  )
}

/** The operator’s own servers may have private addresses. */
function reach({ resolver }: CheckDeps, host: string, signal: AbortSignal): Promise<Target> {
  return checkTarget(parseHost(host), { resolver, allowPrivate: true }, signal)
}

/** Reads the first line of a server. */
async function firstLine(deps: CheckDeps, host: string, port: number): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const socket = await openSocket(await reach(deps, host, signal), port, signal)
  try {
    return await startConversation(socket, signal).line()
  } finally {
    socket.destroy()
  }
}

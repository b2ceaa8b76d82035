import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { findReading } from '../../abuse/abuse-mails/bounces/store.ts'
import { readConfig, type Config } from '../../config.ts'
import { checkBackups } from '../../diagnostics/backups/check-backups.ts'
import { createCheckServices, type CheckDeps } from '../../diagnostics/check-services.ts'
import { checkBounces } from '../../diagnostics/health/check-bounces.ts'
import {
  bad,
  doubtful,
  checkBlocklists,
  checkClock,
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
import { readStatus } from '../../store/archive/status.ts'
import { databaseState, type Db } from '../../store/database.ts'
import { databaseIn } from '../../store/embedded/upgrade.ts'
import { findKeyProblem } from '../../store/secret-key.ts'
import { withDatabase } from '../database.ts'
import { sanitizeForTerminal, pad, paint } from '../text.ts'

type Examine = (config: Config, deps: CheckDeps) => Promise<Finding[]>

/** Time limit for each check over the network. */
const TIMEOUT_MS = 5_000

const EXAMINATIONS: Examine[] = [
  dataFolder,
  database,
  backups,
  async (_config, { resolver }) => [await checkResolver(resolver)],
  (_config, { blocklists }) => checkBlocklists(blocklists),
  ports,
  relay,
]

/** Examines every part of the installation. */
export async function examineAll(): Promise<Finding[]> {
  const config = readConfig()
  const checks = createCheckServices(config, createLog('silent'))
  const findings = [good('settings', 'All settings are valid.')]
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

async function dataFolder({ DATA_DIR }: Config): Promise<Finding[]> {
  if (!existsSync(DATA_DIR))
    return [good('data', `${DATA_DIR} will be created at the first start.`)]
  try {
    accessSync(DATA_DIR, constants.R_OK | constants.W_OK)
  } catch (error) {
    return [
      bad(
        'data',
        `${DATA_DIR} is not accessible: ${messageOf(error)}. Make the user that runs Portreeve its owner, or set DATA_DIR.`,
      ),
    ]
  }
  const { bavail, bsize } = statfsSync(DATA_DIR)
  const left = `${DATA_DIR} is writable, with ${((bavail * bsize) / 1e9).toFixed(1)} GB free.`
  return [
    bavail * bsize < 1e9 ? doubtful('data', `${left} Free some disk space.`) : good('data', left),
  ]
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
  const problem = await findKeyProblem(db, config, [])
  return [problem === null ? good('key', 'It decrypts the stored secrets.') : bad('key', problem)]
}

async function backups(config: Config): Promise<Finding[]> {
  const { BACKUP_ARCHIVE, DATABASE_URL, DATA_DIR } = config
  if (DATABASE_URL || databaseIn(DATA_DIR) === null) return []
  if (!BACKUP_ARCHIVE)
    return [doubtful('backups', 'No continuous backups. Set BACKUP_ARCHIVE (docs/operations.md).')]
  try {
    const store = await openObjectStore(BACKUP_ARCHIVE)
    await store.listFolders()
    return [checkBackups(readStatus(DATA_DIR), config, new Date())]
  } catch (error) {
    return [bad('backups', `${messageOf(error)} Nothing is archived until then.`)]
  }
}

async function ports({ HOST, PORT, SMTP_LISTEN }: Config, deps: CheckDeps): Promise<Finding[]> {
  const listeners = [{ address: HOST, port: PORT }, ...(SMTP_LISTEN ? [SMTP_LISTEN] : [])]
  return Promise.all(listeners.map(({ address, port }) => portFinding(deps, address, port)))
}

async function portFinding(deps: CheckDeps, address: string, port: number): Promise<Finding> {
  const about = `port ${port}`
  const response = await firstLine(deps, address, port, 'GET /healthz HTTP/1.0\r\n\r\n').catch(
    (error: unknown) => error,
  )
  if (typeof response === 'string' && /^(HTTP\/1\.\d 200|220 )/.test(response))
    return good(about, 'In use by a running service.')
  if (response instanceof Fault && response.code === 'upstream_unreachable')
    return good(about, `Free on ${address}.`)
  return doubtful(about, 'In use by another program. Stop it, or change the port in the settings.')
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

/** Reads the first line of a server, after a request where the protocol needs one. */
async function firstLine(
  deps: CheckDeps,
  host: string,
  port: number,
  question?: string,
): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const socket = await openSocket(await reach(deps, host, signal), port, signal)
  try {
    const conversation = startConversation(socket, signal)
    if (question) conversation.send(question)
    return await conversation.line()
  } finally {
    socket.destroy()
  }
}

import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readConfig, type Config } from '../config.ts'
import { createCheckServices, type CheckDeps } from '../diagnostics/check-services.ts'
import {
  bad,
  doubtful,
  checkBlocklists,
  checkClock,
  checkResolver,
  good,
  type Finding,
} from '../diagnostics/service-checks.ts'
import { Fault, messageOf } from '../errors.ts'
import { createLog } from '../log.ts'
import { parseHost } from '../net/address.ts'
import { startConversation } from '../net/tls/conversation.ts'
import { checkTarget, openSocket, type Target } from '../net/guard.ts'
import { probeTls } from '../net/tls/probe-tls.ts'
import { databaseState } from '../store/database.ts'
import { databaseIn } from '../store/embedded/upgrade.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { foreign, pad, paint } from './text.ts'

const USAGE = `Usage: portreeve doctor [--json]

Looks at the settings, the data folder, the database, the clock, the resolvers, the blacklists, the ports and the mail relay, and says what
is wrong (✗), what could be better (!), and how to mend it. An embedded database that does not run is started for the
moment. Exits with 1 when something is wrong, else with 0.`

type Examine = (config: Config, deps: CheckDeps) => Promise<Finding[]>

/** Milliseconds for each look at something far away. */
const PATIENCE = 5_000

const EXAMINATIONS: Examine[] = [
  dataFolder,
  database,
  async (_config, { resolver }) => [await checkResolver(resolver)],
  (_config, { blocklists }) => checkBlocklists(blocklists),
  ports,
  relay,
]

export const doctorCommand: Command = {
  name: 'doctor',
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } })
    const config = readConfig()
    const checks = createCheckServices(config, createLog('silent'))
    const findings = [good('settings', 'All settings can be used.')]
    try {
      for (const examine of EXAMINATIONS) findings.push(...(await examine(config, checks.deps)))
    } finally {
      checks.close()
    }
    const text = values.json
      ? JSON.stringify({ success: true, data: findings }, null, 2)
      : findings.map(line).join('\n')
    console.log(text)
    return findings.some(({ state }) => state === 'bad') ? 1 : 0
  },
}

const MARKS = { good: paint('green', '✓'), doubtful: paint('yellow', '!'), bad: paint('red', '✗') }

function line({ about, state, sentence }: Finding): string {
  return `  ${MARKS[state]} ${pad(about, 10)}  ${sentence}`
}

async function dataFolder({ DATA_DIR }: Config): Promise<Finding[]> {
  if (!existsSync(DATA_DIR)) return [good('data', `${DATA_DIR} will be made at the first start.`)]
  try {
    accessSync(DATA_DIR, constants.R_OK | constants.W_OK)
  } catch (error) {
    return [
      bad(
        'data',
        `${DATA_DIR} cannot be used: ${messageOf(error)}. Give it to the user that runs Portreeve, or set DATA_DIR.`,
      ),
    ]
  }
  const { bavail, bsize } = statfsSync(DATA_DIR)
  const left = `${DATA_DIR} can be written and has ${((bavail * bsize) / 1e9).toFixed(1)} GB left.`
  return [bavail * bsize < 1e9 ? doubtful('data', `${left} Make room.`) : good('data', left)]
}

async function database({ DATABASE_URL, DATA_DIR }: Config): Promise<Finding[]> {
  if (!DATABASE_URL && databaseIn(DATA_DIR) === null) {
    return [good('database', 'The embedded PostgreSQL will be made at the first start.')]
  }
  try {
    const { version, now } = await withDatabase((db) => databaseState(db))
    const well = good('database', `PostgreSQL ${version} answers and has this version’s tables.`)
    return DATABASE_URL ? [well, checkClock(now)] : [well]
  } catch (error) {
    if (error instanceof Fault) return [bad('database', error.message)]
    throw error
  }
}

async function ports({ HOST, PORT, SMTP_LISTEN }: Config, deps: CheckDeps): Promise<Finding[]> {
  const doors = [{ address: HOST, port: PORT }, ...(SMTP_LISTEN ? [SMTP_LISTEN] : [])]
  return Promise.all(doors.map(({ address, port }) => portFinding(deps, address, port)))
}

async function portFinding(deps: CheckDeps, address: string, port: number): Promise<Finding> {
  const about = `port ${port}`
  const said = await firstLine(deps, address, port, 'GET /healthz HTTP/1.0\r\n\r\n').catch((error: unknown) => error)
  if (typeof said === 'string' && /^(HTTP\/1\.\d 200|220 )/.test(said)) return good(about, 'A service answers there.')
  if (said instanceof Fault && said.code === 'upstream_unreachable') return good(about, `Free on ${address}.`)
  return doubtful(about, 'Another program holds it. Stop that, or choose another port in the settings.')
}

async function relay({ SMTP_URL }: Config, deps: CheckDeps): Promise<Finding[]> {
  if (!SMTP_URL) return [doubtful('mail', 'Nothing is mailed: set SMTP_URL to your relay.')]
  const { protocol, hostname, port } = new URL(SMTP_URL)
  try {
    if (protocol === 'smtps:') return [await tlsRelay(deps, hostname, Number(port) || 465)]
    const greeting = await firstLine(deps, hostname, Number(port) || 25)
    if (greeting.startsWith('220')) return [good('mail', `${hostname} answers: ${foreign(greeting)}`)]
    return [bad('mail', `${hostname} does not take mail: ${foreign(greeting)}`)]
  } catch (error) {
    return [bad('mail', `${messageOf(error)} Check SMTP_URL.`)]
  }
}

async function tlsRelay(deps: CheckDeps, host: string, port: number): Promise<Finding> {
  const signal = AbortSignal.timeout(PATIENCE)
  const target = await reach(deps, host, signal)
  const { isTrusted, hostnameMatches, protocol } = await probeTls({ target, port, signal })
  if (isTrusted && hostnameMatches) return good('mail', `${host} answers over ${protocol}.`)
  return bad('mail', `The certificate of ${host} is not trusted, so no mail is handed to it.`)
}

/** The operator's own servers may stand anywhere. */
function reach({ resolver }: CheckDeps, host: string, signal: AbortSignal): Promise<Target> {
  return checkTarget(parseHost(host), { resolver, allowPrivate: true }, signal)
}

/** The first line a server says, after a question where it waits for one. */
async function firstLine(deps: CheckDeps, host: string, port: number, question?: string): Promise<string> {
  const signal = AbortSignal.timeout(PATIENCE)
  const socket = await openSocket(await reach(deps, host, signal), port, signal)
  try {
    const conversation = startConversation(socket, signal)
    if (question) conversation.send(question)
    return await conversation.line()
  } finally {
    socket.destroy()
  }
}

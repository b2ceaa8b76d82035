import { accessSync, constants, existsSync, mkdirSync, statfsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readConfig, type Config } from '../config.ts'
import { resolverHealth } from '../diagnostics/blacklist.ts'
import { openChecks, type CheckDeps } from '../diagnostics/deps.ts'
import { Fault, messageOf } from '../errors.ts'
import { createLog } from '../log.ts'
import { parseHost } from '../net/address.ts'
import { converse } from '../net/conversation.ts'
import { endpointName } from '../net/dns.ts'
import { checkTarget, openSocket, type Target } from '../net/guard.ts'
import { probeTls } from '../net/tls.ts'
import { databaseClock } from '../store/database.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'
import { foreign, pad, paint } from './text.ts'

const USAGE = `Usage: portreeve doctor [--json]

Looks at the settings, the data folder, the database, the clock, the resolvers, the ports and the mail relay, and says
what is wrong and how to mend it. Changes nothing. Exits with 0 when all is well, else with 1.`

type Finding = { about: string; state: 'good' | 'doubtful' | 'bad'; sentence: string }
type Examine = (config: Config, deps: CheckDeps) => Promise<Finding[]>

/** Milliseconds for each look at something far away. */
const PATIENCE = 5_000

/** Seconds between our clock and the database's beyond which one of them is wrong. */
const CLOCK_TOLERANCE = 5

const DATABASE_AWAY = 'The database does not answer'

const EXAMINATIONS: Examine[] = [dataFolder, database, resolvers, blacklists, ports, relay]

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Find what is wrong with this installation',
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } })
    const config = readConfig()
    const checks = openChecks(config, createLog('silent'))
    const findings: Finding[] = [{ about: 'settings', state: 'good', sentence: 'All settings can be used.' }]
    try {
      for (const examine of EXAMINATIONS) findings.push(...(await examine(config, checks.deps)))
    } finally {
      checks.close()
    }
    console.log(
      values.json ? JSON.stringify({ success: true, data: findings }, null, 2) : findings.map(line).join('\n'),
    )
    return findings.some(({ state }) => state === 'bad') ? 1 : 0
  },
}

const MARKS = { good: paint('green', '✓'), doubtful: paint('yellow', '!'), bad: paint('red', '✗') }

function line({ about, state, sentence }: Finding): string {
  return `  ${MARKS[state]} ${pad(about, 10)}  ${sentence}`
}

async function dataFolder({ DATA_DIR }: Config): Promise<Finding[]> {
  const about = 'data'
  try {
    mkdirSync(DATA_DIR, { recursive: true })
    accessSync(DATA_DIR, constants.R_OK | constants.W_OK)
  } catch (error) {
    const sentence = `${DATA_DIR} cannot be used: ${messageOf(error)}. Give it to the user that runs Portreeve, or set DATA_DIR.`
    return [{ about, state: 'bad', sentence }]
  }
  const { bavail, bsize } = statfsSync(DATA_DIR)
  const gigabytes = (bavail * bsize) / 1e9
  const sentence = `${DATA_DIR} can be written and has ${gigabytes.toFixed(1)} GB left.`
  return [
    {
      about,
      state: gigabytes < 1 ? 'doubtful' : 'good',
      sentence: gigabytes < 1 ? `${sentence} Make room.` : sentence,
    },
  ]
}

async function database(config: Config): Promise<Finding[]> {
  const about = 'database'
  const fresh = !config.DATABASE_URL && !existsSync(`${config.DATA_DIR}/postgres`)
  if (fresh) return [{ about, state: 'good', sentence: 'The embedded PostgreSQL will be made at the first start.' }]
  try {
    const { version, now } = await withDatabase((db) => databaseClock(db))
    const apart = Math.abs(now.getTime() - Date.now()) / 1000
    const clock: Finding =
      apart > CLOCK_TOLERANCE
        ? {
            about: 'clock',
            state: 'bad',
            sentence: `This clock and the database’s are ${Math.round(apart)} seconds apart. Run NTP on both machines.`,
          }
        : { about: 'clock', state: 'good', sentence: 'This clock and the database’s agree.' }
    return [{ about, state: 'good', sentence: `PostgreSQL ${version} answers and has this version’s tables.` }, clock]
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return [
      {
        about,
        state: 'bad',
        sentence: error.message.startsWith(DATABASE_AWAY) ? `${error.message} Check DATABASE_URL.` : error.message,
      },
    ]
  }
}

async function resolvers(_config: Config, { resolver }: CheckDeps): Promise<Finding[]> {
  const about = 'DNS'
  const servers = resolver.servers.map(endpointName).join(', ')
  const answer = await resolver.query('.', 'NS', AbortSignal.timeout(PATIENCE))
  if (answer.status === 'NOERROR')
    return [{ about, state: 'good', sentence: `${servers} answers in ${Math.round(answer.ms)} ms.` }]
  const why = answer.status === 'FAILED' ? answer.failure : answer.status
  return [
    {
      about,
      state: 'bad',
      sentence: `${servers} does not resolve names (${why}). Set DNS_SERVERS to a resolver that does.`,
    },
  ]
}

async function blacklists(_config: Config, { blocklists }: CheckDeps): Promise<Finding[]> {
  const about = 'blacklists'
  const { lists, warnings } = await resolverHealth(blocklists)
  if (warnings.length > 0) return warnings.map((sentence) => ({ about, state: 'doubtful', sentence }))
  return [{ about, state: 'good', sentence: `All ${lists.length} critical lists answer this resolver.` }]
}

async function ports({ HOST, PORT, SMTP_LISTEN }: Config, deps: CheckDeps): Promise<Finding[]> {
  const doors = [{ address: HOST, port: PORT }, ...(SMTP_LISTEN ? [SMTP_LISTEN] : [])]
  return Promise.all(doors.map(({ address, port }) => portFinding(deps, address, port)))
}

async function portFinding(deps: CheckDeps, address: string, port: number): Promise<Finding> {
  const about = `port ${port}`
  const said = await firstLine(deps, address, port, 'GET /healthz HTTP/1.0\r\n\r\n').catch((error: unknown) => error)
  if (typeof said === 'string' && /^(HTTP\/1\.\d 200|220 )/.test(said)) {
    return { about, state: 'good', sentence: 'A service answers there, and is well.' }
  }
  const refused = said instanceof Fault && said.code === 'upstream_unreachable'
  if (refused) return { about, state: 'good', sentence: `Free on ${address}.` }
  return {
    about,
    state: 'doubtful',
    sentence: 'Another program holds it. Stop that, or choose another port in the settings.',
  }
}

async function relay({ SMTP_URL }: Config, deps: CheckDeps): Promise<Finding[]> {
  const about = 'mail'
  if (!SMTP_URL) return [{ about, state: 'doubtful', sentence: 'Nothing is mailed: set SMTP_URL to your relay.' }]
  const { protocol, hostname, port } = new URL(SMTP_URL)
  try {
    if (protocol === 'smtps:') return [await tlsRelay(deps, hostname, Number(port) || 465)]
    const greeting = await firstLine(deps, hostname, Number(port) || 25)
    if (greeting.startsWith('220'))
      return [{ about, state: 'good', sentence: `${hostname} answers: ${foreign(greeting)}` }]
    return [{ about, state: 'bad', sentence: `${hostname} does not take mail: ${foreign(greeting)}` }]
  } catch (error) {
    return [{ about, state: 'bad', sentence: `${messageOf(error)} Check SMTP_URL.` }]
  }
}

async function tlsRelay(deps: CheckDeps, host: string, port: number): Promise<Finding> {
  const signal = AbortSignal.timeout(PATIENCE)
  const target = await reach(deps, host, signal)
  const { isTrusted, hostnameMatches, protocol } = await probeTls({ target, port, signal })
  if (isTrusted && hostnameMatches)
    return { about: 'mail', state: 'good', sentence: `${host} answers over ${protocol}.` }
  return {
    about: 'mail',
    state: 'bad',
    sentence: `The certificate of ${host} is not trusted, so no mail is handed to it.`,
  }
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
    const conversation = converse(socket, signal)
    if (question) conversation.send(question)
    return await conversation.line()
  } finally {
    socket.destroy()
  }
}

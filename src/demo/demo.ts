import { randomBytes } from 'node:crypto'
import { startService, type RunningService } from '../app.ts'
import type { Config } from '../config.ts'
import { Fault, messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { goOffline } from '../net/offline.ts'
import { openDatabase } from '../store/database.ts'
import { lockDataDir, startEmbedded } from '../store/embedded.ts'
import { DAY_MS } from '../time.ts'
import { startPulse } from './pulse.ts'
import { makeReadOnly } from './read-only.ts'
import { createRecording, REGISTRIES } from './recording.ts'
import { seed } from './seed/seed.ts'
import { clearDatabase, isDemoOrEmpty } from './demo.sql.ts'

/**
 * Starts a read-only service with example data, in a process that loses its network. Once a day, it
 * starts again with new data, whose dates are relative to that day.
 * @throws Fault `conflict` for a database with other data
 */
export async function startDemo(given: Config, log: Logger): Promise<RunningService> {
  const recording = createRecording()
  goOffline(recording)
  await using undo = new AsyncDisposableStack()
  const url = given.DATABASE_URL ?? (await startDatabase(given, log, undo))
  const config = demoConfig(given, url)

  async function start(): Promise<RunningService> {
    await prepareDatabase(url)
    await seed(config, log, recording)
    const service = await startService(config, log, (app) => makeReadOnly(app, recording), {
      registries: REGISTRIES,
    })
    const stopPulse = startPulse(config, log)
    return { ...service, stop: () => stopPulse().then(() => service.stop()) }
  }
  let running = start()
  const service = await running
  const renew = async () => {
    const earlier = await running
    running = earlier.stop().then(start)
    await running.catch((error: unknown) => {
      log.fatal({ err: error }, `the demo could not start again: ${messageOf(error)}`)
      process.exit(1)
    })
  }
  const timer = setInterval(() => void renew(), DAY_MS)
  const parts = undo.move()
  return {
    ...service,
    readMetrics: async () => (await running).readMetrics(),
    async stop() {
      clearInterval(timer)
      await (await running).stop()
      await parts.disposeAsync()
    },
  }
}

async function startDatabase(
  { DATA_DIR: dataDir }: Config,
  log: Logger,
  undo: AsyncDisposableStack,
): Promise<string> {
  const lock = await lockDataDir({ dataDir, log })
  undo.defer(async () => lock.release())
  const embedded = await startEmbedded({ dataDir, log, lock, maxConnections: 100 })
  undo.defer(() => embedded.stop())
  return embedded.url
}

/** @throws Fault `conflict` for a database with other data */
async function prepareDatabase(url: string): Promise<void> {
  const database = openDatabase(url)
  try {
    if (!(await isDemoOrEmpty(database.db))) {
      const sentence = 'DEMO=true needs an empty database: this one has data of its own.'
      const suggestion = 'another DATA_DIR or DATABASE_URL for the demo'
      throw new Fault('conflict', sentence, { suggestion })
    }
    await clearDatabase(database.db)
  } finally {
    await database.close()
  }
}

/** Where the answers of the recording claim to come from. */
const NAME_SERVERS = [{ address: '192.0.2.53', port: 53 }]

/** Settings of a demo: nothing runs that would send, fetch or receive anything. */
function demoConfig(given: Config, url: string): Config {
  return {
    ...given,
    DATABASE_URL: url,
    SECRET_KEY: given.SECRET_KEY ?? randomBytes(32).toString('base64'),
    SECRET_KEY_PREVIOUS: undefined,
    DNS_SERVERS: NAME_SERVERS,
    DNSBL_SERVERS: NAME_SERVERS,
    ROLES: ['web'],
    PROCESSES: 1,
    BACKUP_ARCHIVE: undefined,
    ABUSE_RETURN_PATH: undefined,
    ABUSE_RETURN_MAILBOX: undefined,
    OIDC_ISSUER: undefined,
    PASSWORD_SIGN_IN: 'on',
    REQUIRE_2FA: 'off',
    REPORT_DOMAIN: 'reports.seagull.example',
    // Nothing is sent: it shows what the dashboard has with a mail relay.
    SMTP_URL: 'smtp://mail.seagull.example',
    MAIL_FROM: 'Portreeve <portreeve@seagull.example>',
  }
}

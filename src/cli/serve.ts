import { parseArgs } from 'node:util'
import { startService } from '../app.ts'
import { readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import type { CliCommand } from './command.ts'

const USAGE = `Usage: portreeve serve

Runs the service until SIGINT or SIGTERM. Running work then has 10 seconds to finish.
Without DATABASE_URL, it starts an embedded PostgreSQL in DATA_DIR/postgres.
Settings come from the environment and .env: docs/configuration.md.

  --json    write only the log, as JSON lines to standard output`

export const serveCommand: CliCommand = {
  name: 'serve',
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } })
    const config = readConfig()
    const log = createLog(config.LOG_LEVEL)
    const notifications = handleSignals()
    const service = await startService(config, log)
    if (!values.json) greet(service.url, service.setupLink)
    else if (service.setupLink)
      log.info(
        { setupLink: service.setupLink },
        'no account exists: create the first one at setupLink',
      )
    await notifications.toStop()
    await service.stop()
    return 0
  },
}

function greet(url: string, setupLink: string | null): void {
  const next = setupLink ? `  Create first account:    ${setupLink}\n` : ''
  console.error(
    `\n  Portreeve is running:    ${url}\n${next}  API documentation:       ${url}/docs\n`,
  )
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Time after the first signal in which further ones are duplicates: a supervisor signals every
 * process of a service, and the parent forwards its own.
 */
const SAME_SIGNAL_MS = 1_000

/**
 * Handles SIGINT and SIGTERM. While the service starts they end the process, and with it the
 * embedded database; after `toStop` the first one resolves its promise, and a later one ends the
 * process at once.
 */
function handleSignals(): { toStop(): Promise<void> } {
  let stop: (() => void) | undefined
  let stoppedAt = -Infinity
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // process.exit runs the handlers that stop the database; the default action of the signal
      // would not.
      if (!stop) process.exit(1)
      if (stoppedAt === -Infinity) stoppedAt = performance.now()
      else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(1)
      stop()
    })
  }
  return { toStop: () => new Promise((resolve) => (stop = resolve)) }
}

import { parseArgs } from 'node:util'
import { startService } from '../app.ts'
import { readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import type { Command } from './command.ts'

const USAGE = `Usage: portreeve serve

Runs the service until SIGINT or SIGTERM, which let running work finish (10 seconds at most).
Without DATABASE_URL it brings its own PostgreSQL along, under DATA_DIR/postgres.
Settings come from the environment and from .env: docs/configuration.md.

  --json    write the log as JSON lines to standard output, and no words for people`

export const serveCommand: Command = {
  name: 'serve',
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args, options: { json: { type: 'boolean' } } })
    const config = readConfig()
    const log = createLog(config.LOG_LEVEL)
    const notifications = takeSignals()
    const service = await startService(config, log)
    if (!values.json) greet(service.url, service.setupLink)
    else if (service.setupLink)
      log.info({ setupLink: service.setupLink }, 'no account exists: make the first one there')
    await notifications.toStop()
    await service.stop()
    return 0
  },
}

function greet(url: string, setupLink: string | null): void {
  const next = setupLink ? `  Make the first account:  ${setupLink}\n` : ''
  console.error(`\n  Portreeve is running:    ${url}\n${next}  API documentation:       ${url}/docs\n`)
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Milliseconds after the first signal in which another one means the same: a supervisor signals every process of a
 * service, and the parent passes its own on.
 */
const SAME_SIGNAL_MS = 1_000

/**
 * Takes SIGINT and SIGTERM from now on. While the service starts they end the process, and with it the embedded
 * database; after `toStop` the first one resolves its promise, and a later one ends the process at once.
 */
function takeSignals(): { toStop(): Promise<void> } {
  let stop: (() => void) | undefined
  let stoppedAt = -Infinity
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // An exit of our own runs the handlers that end the database; the signal's own would not.
      if (!stop) process.exit(1)
      if (stoppedAt === -Infinity) stoppedAt = performance.now()
      else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) process.exit(1)
      stop()
    })
  }
  return { toStop: () => new Promise((resolve) => (stop = resolve)) }
}

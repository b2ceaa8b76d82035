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
    const service = await startService(config, log)
    if (!values.json) greet(service.url, service.setupLink)
    else if (service.setupLink)
      log.info({ setupLink: service.setupLink }, 'no account exists: make the first one there')
    await signalled()
    await service.stop()
    return 0
  },
}

function greet(url: string, setupLink: string | null): void {
  const next = setupLink ? `  Make the first account:  ${setupLink}\n` : ''
  console.error(`\n  Portreeve is running:    ${url}\n${next}  API documentation:       ${url}/docs\n`)
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1))
        resolve()
      })
    }
  })
}

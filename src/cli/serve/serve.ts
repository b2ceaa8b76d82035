import { holdYoungGeneration } from '../../heap-growth.ts'
import { defineCommand } from '../command.ts'

export const serveCommand = defineCommand({
  name: 'serve',
  summary: 'Run the service',
  description: [
    'It runs until Ctrl-C, SIGTERM or SIGHUP. Running work then has 10 seconds to finish. Without DATABASE_URL, it starts an embedded PostgreSQL in DATA_DIR/postgres.',
    'At a terminal, it prints the address of the dashboard and, until an account exists, the link that creates the first one; then only warnings and errors. Elsewhere, as under systemd and in containers, it writes its log as JSON lines to standard output. LOG_FORMAT and LOG_LEVEL change that.',
    'Settings come from the environment, and from /etc/portreeve/portreeve.env or .env.',
  ],
  flags: { json: { summary: 'write only the log, as JSON lines' } },
  examples: [
    { does: 'Run on http://localhost:8080, with data in ./data', command: 'portreeve serve' },
    {
      does: 'Another port and folder',
      command: 'PORT=9000 DATA_DIR=/var/lib/portreeve portreeve serve',
    },
    { does: 'Only the log, as JSON lines', command: 'portreeve serve --json' },
  ],
  exitCodes: { 0: 'stopped by a signal', 1: 'could not start' },
  async run({ json }) {
    holdYoungGeneration()
    return (await import('./run-service.ts')).runService(json)
  },
})

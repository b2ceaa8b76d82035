import { Fault, messageOf } from '../errors.ts'
import { failureBody } from '../http/errors.ts'
import { VERSION } from '../version.ts'
import { UsageError, type CliCommand } from './command.ts'

/**
 * All commands. Each is loaded on use, so that `check` does not wait for the whole service to load.
 */
const COMMANDS: Record<string, { summary: string; load: () => Promise<CliCommand> }> = {
  serve: {
    summary: 'Run the service',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  check: {
    summary: 'Check a domain, host or IP address',
    load: async () => (await import('./check/check.ts')).checkCommand,
  },
  migrate: {
    summary: 'Move a mailbox from one IMAP server to another',
    load: async () => (await import('./migrate/migrate.ts')).migrateCommand,
  },
  user: {
    summary: 'Create and list accounts, set plans and passwords',
    load: async () => (await import('./user.ts')).userCommand,
  },
  workspace: {
    summary: 'Create and list workspaces, manage their members and plans',
    load: async () => (await import('./workspace.ts')).workspaceCommand,
  },
  token: {
    summary: 'Create an API token',
    load: async () => (await import('./token.ts')).tokenCommand,
  },
  listen: {
    summary: 'Forward captured webhooks to a server on this machine',
    load: async () => (await import('./listen.ts')).listenCommand,
  },
  'import-reports': {
    summary: 'Import DMARC and TLS reports from files, folders and mbox files',
    load: async () => (await import('./import-reports.ts')).importReportsCommand,
  },
  backup: {
    summary: 'Back up the embedded database to a file',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  restore: {
    summary: 'Restore the embedded database from a backup',
    load: async () => (await import('./backup.ts')).restoreCommand,
  },
  doctor: {
    summary: 'Find problems of this installation',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
}

const HELP = `Usage: portreeve <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`)
  .join('\n')}

Run “portreeve <command> --help” for the options of a command. Settings come from the environment and .env: docs/configuration.md.`

/**
 * Runs one command.
 * @param argv the arguments after `portreeve`
 * @returns the exit code
 */
export async function main(argv: string[]): Promise<number> {
  const [name, ...args] = argv
  if (name === undefined) return print(HELP, 2)
  if (name === '--help' || name === '-h' || name === 'help') return print(HELP, 0)
  if (name === '--version' || name === '-v') return print(VERSION, 0)
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!entry) return print(`Error: “${name}” is not a command.\n\n${HELP}`, 2)
  const command = await entry.load()
  if (args.includes('--help') || args.includes('-h')) return print(command.usage, 0)
  try {
    return await command.run(args)
  } catch (error) {
    return explain(error, command, args.includes('--json'))
  }
}

function explain(error: unknown, command: CliCommand, json: boolean): number {
  const isUsage = isUsageError(error)
  if (!isUsage && !(error instanceof Fault)) throw error
  const fault = error instanceof Fault ? error : new Fault('invalid_request', messageOf(error))
  if (json) console.log(JSON.stringify(failureBody(fault)))
  else console.error(`Error: ${fault.message}${isUsage ? `\n\n${command.usage}` : ''}`)
  return fault.code === 'invalid_request' ? 2 : 1
}

/** A UsageError, or the error of `parseArgs` for an unknown option. */
function isUsageError(error: unknown): boolean {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError &&
      String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS'))
  )
}

function print(text: string, code: number): number {
  if (code === 0) console.log(text)
  else console.error(text)
  return code
}

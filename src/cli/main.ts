import { Fault, messageOf } from '../errors.ts'
import { failureBody } from '../http/errors.ts'
import { VERSION } from '../version.ts'
import { UsageError, type Command } from './command.ts'

/** Every command; loaded only when called, so that `check` does not wait for the whole service to load. */
const COMMANDS: Record<string, { summary: string; load: () => Promise<Command> }> = {
  serve: { summary: 'Run the service', load: async () => (await import('./serve.ts')).serveCommand },
  check: {
    summary: 'Check a domain or an address, here and now',
    load: async () => (await import('./check.ts')).checkCommand,
  },
  migrate: {
    summary: 'Move a mailbox from one IMAP server to another',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  user: {
    summary: 'Make and list accounts, set their plan',
    load: async () => (await import('./user.ts')).userCommand,
  },
  token: { summary: 'Make an API token', load: async () => (await import('./token.ts')).tokenCommand },
  listen: {
    summary: 'Forward captured webhooks to a server on this machine',
    load: async () => (await import('./listen.ts')).listenCommand,
  },
  'import-reports': {
    summary: 'Read DMARC and TLS reports from files, folders and mailbox files',
    load: async () => (await import('./import-reports.ts')).importReportsCommand,
  },
  backup: {
    summary: 'Write the embedded database into one file',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  restore: {
    summary: 'Begin with the database of a backup',
    load: async () => (await import('./backup.ts')).restoreCommand,
  },
  doctor: {
    summary: 'Find what is wrong with this installation',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
}

const HELP = `Usage: portreeve <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`)
  .join('\n')}

“portreeve <command> --help” tells more. Settings come from the environment and from .env: docs/configuration.md.`

/**
 * Runs one command.
 * @param argv the words behind `portreeve`
 * @returns the exit code
 */
export async function main(argv: string[]): Promise<number> {
  const [name, ...args] = argv
  if (name === undefined) return print(HELP, 2)
  if (name === '--help' || name === '-h' || name === 'help') return print(HELP, 0)
  if (name === '--version' || name === '-v') return print(VERSION, 0)
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!entry) return print(`portreeve: there is no command “${name}”.\n\n${HELP}`, 2)
  const command = await entry.load()
  if (args.includes('--help') || args.includes('-h')) return print(command.usage, 0)
  try {
    return await command.run(args)
  } catch (error) {
    return explain(error, command, args.includes('--json'))
  }
}

function explain(error: unknown, command: Command, json: boolean): number {
  const isUsage = isUsageError(error)
  if (!isUsage && !(error instanceof Fault)) throw error
  const fault = error instanceof Fault ? error : new Fault('invalid_request', messageOf(error))
  if (json) console.log(JSON.stringify(failureBody(fault)))
  else console.error(`portreeve ${command.name}: ${fault.message}${isUsage ? `\n\n${command.usage}` : ''}`)
  return fault.code === 'invalid_request' ? 2 : 1
}

/** Ours, or one that `parseArgs` throws for an unknown option. */
function isUsageError(error: unknown): boolean {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS'))
  )
}

function print(text: string, code: number): number {
  if (code === 0) console.log(text)
  else console.error(text)
  return code
}

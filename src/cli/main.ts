import { withGuideUrls } from '../config.ts'
import { Fault } from '../errors.ts'
import { lineOf, UsageError, type CliCommand } from './command.ts'
import { ROOT } from './commands.ts'
import { helpText } from './help/help-text.ts'
import { asksForHelp, findCommand, parseInput, type Found } from './parse.ts'
import { sanitizeForTerminal } from './terminal-text.ts'
// oxlint-disable-next-line import/no-unassigned-import -- it sets what TLS connections offer and accept
import '../net/tls/defaults.ts'

/**
 * Runs one command.
 * @param argv the arguments after `portreeve`
 * @returns the exit code: 0 done, 1 a failed check or job, 2 wrong usage
 */
export async function main(argv: string[]): Promise<number> {
  let path: readonly CliCommand[] = [ROOT]
  try {
    const found = findCommand(ROOT, versionAsCommand(argv))
    path = found.path
    if (asksForHelp(found.args)) return print(helpText(found.path))
    if (found.command === ROOT && found.args.length === 0) {
      console.error(helpText([ROOT]))
      return 2
    }
    if (!found.command.run) throw incomplete(found)
    return await found.command.run(parseInput(found))
  } catch (error) {
    return explain(error, lineOf(path), argv.includes('--json'))
  }
}

/** `portreeve --version` and `-v` are the command `version`. */
function versionAsCommand(argv: string[]): string[] {
  const [first = '', ...rest] = argv
  return ['--version', '-v', '-V'].includes(first) ? ['version', ...rest] : argv
}

function incomplete({ path, command }: Found): UsageError {
  const names = command.subcommands.map(({ name }) => name)
  const [first] = command.examples
  return new UsageError(
    `${lineOf(path.slice(1)) || lineOf(path)} needs a command: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`,
    first?.command,
  )
}

function print(text: string): number {
  console.log(text)
  return 0
}

/**
 * Prints a failure: one line on standard error, or with `--json` the failure of the API on standard
 * output. Defects are thrown on, with their stack.
 */
async function explain(error: unknown, line: string, json: boolean): Promise<number> {
  const fault = await toFault(error)
  if (!fault) throw error
  const suggestion = fault.suggestion ?? defaultSuggestion(fault, line)
  if (json) {
    const { failureBody } = await import('../http/error-answers.ts')
    console.log(JSON.stringify({ ...failureBody(fault), suggestion }))
  } else {
    const hint = suggestion === undefined ? '' : ` Try: ${suggestion}`
    console.error(withGuideUrls(`Error: ${sanitizeForTerminal(fault.message)}${hint}`))
  }
  return fault.code === 'invalid_request' ? 2 : 1
}

function defaultSuggestion({ code }: Fault, line: string): string | undefined {
  if (code === 'invalid_request') return `${line} --help`
  return code === 'unavailable' ? 'portreeve doctor' : undefined
}

/**
 * Errors of the operating system name their file or address, and the database may stop beside a
 * command; others are defects.
 */
async function toFault(error: unknown): Promise<Fault | null> {
  if (error instanceof Fault) return error
  if (!(error instanceof Error)) return null
  if ('syscall' in error && error.syscall === 'uv_cwd')
    return new UsageError('The working folder no longer exists.', 'cd /')
  if ('syscall' in error) return new Fault('unavailable', `${error.message}.`, { cause: error })
  const { isUnavailable } = await import('../store/database.ts')
  if (!isUnavailable(error)) return null
  const sentence = `The database stopped beside this command: ${error.message}. Run the command again.`
  return new Fault('unavailable', sentence, { cause: error })
}

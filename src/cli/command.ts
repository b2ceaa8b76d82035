import { Fault } from '../errors.ts'

/** An option of a command: a switch, or with `value` an option that takes a value. */
export type Flag = {
  /** A noun phrase or an imperative, without a full stop. */
  summary: string
  /** The placeholder of the value in the help, such as `N` or `FILE`. */
  value?: string
  /** The only accepted values. */
  choices?: readonly string[]
  /** The value is a whole number within these bounds. */
  range?: readonly [number, number]
  /** The value if the flag is not given. */
  default?: string
  /** Describes a default that is not a fixed value. */
  defaultText?: string
  /** The flag can be repeated. */
  multiple?: true
  required?: true
  /** Shells complete the value with names of files or folders. */
  completes?: 'file' | 'folder'
}
export type Flags = Readonly<Record<string, Flag>>

/** An argument without a dash, such as the domain of a check. */
export type Operand = {
  /** In capitals, as the help shows it. */
  name: string
  summary?: string
  /** `by flag`: a flag of the same name can give it instead. */
  optional?: true | 'by flag'
  /** The last operand can be repeated. */
  multiple?: true
  choices?: readonly string[]
  completes?: 'file' | 'folder' | 'host'
}

/** A command that works as it stands, and what it does. */
type Example = { does: string; command: string }

type ValueOf<F extends Flag> = F extends { range: readonly [number, number] }
  ? number
  : F extends { choices: readonly (infer Choice)[] }
    ? Choice
    : string

/** The values of flags: switches are booleans, repeatable flags are lists. */
export type FlagValues<F extends Flags> = {
  [Name in keyof F]: F[Name] extends { value: string }
    ? F[Name] extends { multiple: true }
      ? ValueOf<F[Name]>[]
      : F[Name] extends { default: string } | { required: true }
        ? ValueOf<F[Name]>
        : ValueOf<F[Name]> | undefined
    : boolean
}

/** The parsed arguments of a command. */
export type Input<F extends Flags = Flags> = {
  flags: FlagValues<F>
  /** As many as the command declares. */
  operands: string[]
  /** Whether the result is printed as JSON. */
  json: boolean
}

type Description = {
  name: string
  /** Other names that work and are not advertised. */
  aliases?: readonly string[]
  /** One line in the list of commands: an imperative without a full stop. */
  summary: string
  /** Paragraphs of the help. */
  description?: readonly string[]
  examples: readonly Example[]
}

type CommandSpec<F extends Flags> = Description & {
  operands?: readonly Operand[]
  flags?: F
  /** The command parses its arguments itself: they are its operands. It has no `--json`. */
  hasOwnSyntax?: true
  /** What the codes 0 and 1 mean, where that needs words. Wrong usage is always 2. */
  exitCodes?: { readonly 0: string; readonly 1: string }
  /**
   * Runs the command. It loads its implementation here, so that help and completion load none.
   * @returns the exit code: 0 done, 1 a failed check or job
   * @throws UsageError, Fault
   */
  run: (input: Input<F>) => Promise<number>
}

type GroupSpec = Description & {
  subcommands: readonly CliCommand[]
  /** Names the subcommand that handles an argument which is no subcommand. */
  route?: (argument: string) => string | undefined
}

/** A command, or a group of commands. Everything the help, the completions and the man page show. */
export type CliCommand = Description & {
  operands: readonly Operand[]
  flags: Flags
  hasOwnSyntax?: true
  exitCodes?: { readonly 0: string; readonly 1: string }
  subcommands: readonly CliCommand[]
  route?: (argument: string) => string | undefined
  run: ((input: Input) => Promise<number>) | null
}

/** Describes one command. */
export function defineCommand<const F extends Flags>(spec: CommandSpec<F>): CliCommand {
  const { operands = [], flags = {}, run } = spec
  // The parser makes the values that the flags declare.
  const runAny = (input: Input) => run(input as unknown as Input<F>)
  return { ...spec, operands, flags, subcommands: [], run: runAny }
}

/** Describes a group of commands, such as `user`. */
export function defineGroup(spec: GroupSpec): CliCommand {
  return { ...spec, operands: [], flags: {}, run: null }
}

/** Flags of every command. */
export const COMMON_FLAGS = {
  json: { summary: 'print the result as JSON' },
  help: { summary: 'show this help' },
} as const satisfies Flags

/** The flags of a command and the common ones; a command can describe a common one itself. */
export function allFlags({
  flags,
  hasOwnSyntax,
}: Pick<CliCommand, 'flags' | 'hasOwnSyntax'>): Flags {
  if (hasOwnSyntax) return { ...flags, help: COMMON_FLAGS.help }
  return { ...flags, ...COMMON_FLAGS, ...flags }
}

/** Wrong usage: printed as “Error: message Try: suggestion”, with exit code 2. */
export class UsageError extends Fault {
  /** @param suggestion a command line to try; by default the help of the command */
  constructor(message: string, suggestion?: string) {
    super('invalid_request', message, { suggestion })
  }
}

/** The command line that leads to a command, such as `portreeve check dns`. */
export function lineOf(path: readonly CliCommand[]): string {
  return path.map(({ name }) => name).join(' ')
}

import {
  allFlags,
  COMMON_FLAGS,
  lineOf,
  UsageError,
  type CliCommand,
  type Flag,
  type Input,
  type Operand,
} from './command.ts'
import { closestWord } from './suggest.ts'

/** A command with the groups above it, from the root, and the arguments after its name. */
export type Found = { path: [CliCommand, ...CliCommand[]]; command: CliCommand; args: string[] }

/**
 * Finds the command that a command line names. Flags that every command has may stand before it.
 * An incomplete command line ends at a group.
 * @throws UsageError for an unknown command
 */
export function findCommand(root: CliCommand, argv: readonly string[]): Found {
  const found: Found = { path: [root], command: root, args: [] }
  const rest = [...argv]
  while (found.command.subcommands.length > 0) {
    const word = rest.shift()
    if (word === undefined) break
    if (isCommonFlag(word)) {
      found.args.push(word)
      continue
    }
    found.command = subcommandOf(found, word, rest)
    found.path.push(found.command)
  }
  return { ...found, args: [...found.args, ...rest] }
}

function subcommandOf({ path, command }: Found, word: string, rest: string[]): CliCommand {
  const { subcommands, route } = command
  const named = subcommands.find(({ name, aliases }) => name === word || aliases?.includes(word))
  if (named) return named
  const line = lineOf(path)
  if (word.startsWith('-')) throw unknownFlag(word, [], line)
  const target = route?.(word)
  const routed = subcommands.find(({ name }) => name === target)
  if (routed) {
    rest.unshift(word)
    return routed
  }
  const names = subcommands.map(({ name }) => name)
  const within = path
    .slice(1)
    .map(({ name }) => `${name} `)
    .join('')
  throw new UsageError(
    `unknown command ${within}${word}.${didYouMean(closestWord(word, names))}`,
    `${line} --help`,
  )
}

const isCommonFlag = (word: string) => word === '-h' || isHelpOrJson(word)
const isHelpOrJson = (word: string) =>
  word.startsWith('--') && Object.hasOwn(COMMON_FLAGS, word.slice(2))

/** Whether the arguments ask for help instead of a run. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const flags = end === -1 ? args : args.slice(0, end)
  return flags.includes('--help') || flags.includes('-h')
}

/**
 * Parses the arguments of a command by its description.
 * @throws UsageError for unknown, missing and invalid ones
 */
export function parseInput({ command, path, args }: Found): Input {
  if (command.hasOwnSyntax) return { flags: {}, operands: args, json: false }
  const line = lineOf(path)
  const given = new Map<string, string[]>()
  const operands: string[] = []
  const rest = [...args]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') operands.push(...rest.splice(0))
    else if (word.startsWith('-') && word.length > 1) readFlag(word, rest, command, line, given)
    else operands.push(word)
  }
  requireOperands(operands, command)
  return {
    flags: valuesOf(given, command),
    operands,
    json: given.has('json'),
  }
}

/** Reads `--name`, `--name value` or `--name=value`. */
function readFlag(
  word: string,
  rest: string[],
  command: CliCommand,
  line: string,
  given: Map<string, string[]>,
): void {
  const [, name = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
  const flag = flagOf(command, name)
  if (!flag) {
    throw unknownFlag(word.split('=', 1)[0] ?? word, Object.keys(allFlags(command)), line)
  }
  const values = given.get(name) ?? []
  given.set(name, values)
  if (flag.value === undefined) {
    if (inline !== undefined) throw new UsageError(`--${name} takes no value.`)
    return
  }
  const value =
    inline ?? (rest[0]?.startsWith('-') && rest[0].length > 1 ? undefined : rest.shift())
  if (value === undefined) throw new UsageError(`--${name} needs a value: --${name} ${flag.value}.`)
  if (!flag.multiple) values.length = 0
  values.push(value)
}

function flagOf(command: CliCommand, name: string): Flag | undefined {
  const flags = allFlags(command)
  return Object.hasOwn(flags, name) ? flags[name] : undefined
}

function unknownFlag(word: string, known: string[], line: string): UsageError {
  const meant = word.startsWith('--') ? closestWord(word.slice(2), known) : undefined
  const suggestion = didYouMean(meant && `--${meant}`)
  return new UsageError(`unknown flag ${word}.${suggestion}`, `${line} --help`)
}

const didYouMean = (word: string | undefined) =>
  word === undefined ? '' : ` Did you mean ${word}?`

function requireOperands(operands: string[], command: CliCommand): void {
  const declared = command.operands
  const missing = declared.filter(({ optional }) => !optional)[operands.length]
  if (missing) throw new UsageError(`missing ${missing.name}.`, command.examples[0]?.command)
  const extra = operands[declared.length]
  if (extra !== undefined && !declared.at(-1)?.multiple)
    throw new UsageError(`unexpected argument ${extra}.`)
  for (const [index, value] of operands.entries()) {
    const operand = declared[index]
    if (operand?.choices) requireChoice(operand, operand.name, value)
  }
}

function requireChoice({ choices }: Pick<Operand, 'choices'>, name: string, value: string): void {
  if (!choices || choices.includes(value)) return
  const meant = didYouMean(closestWord(value, choices))
  throw new UsageError(`${name} must be one of ${choices.join(', ')}.${meant}`)
}

function valuesOf(given: Map<string, string[]>, command: CliCommand): Input['flags'] {
  const entries = Object.entries(command.flags).map(([name, flag]) => {
    const values = given.get(name)
    if (flag.value === undefined) return [name, values !== undefined]
    if (flag.required && values === undefined)
      throw new UsageError(`missing --${name} ${flag.value}.`, command.examples[0]?.command)
    const parsed = (values ?? [flag.default ?? []].flat()).map((value) =>
      parseValue(`--${name}`, flag, value),
    )
    return [name, flag.multiple ? parsed : parsed[0]]
  })
  return Object.fromEntries(entries) as Input['flags']
}

function parseValue(name: string, flag: Flag, value: string): string | number {
  requireChoice(flag, name, value)
  if (!flag.range) return value
  const [least, most] = flag.range
  const number = Number(value)
  if (!/^\d+$/.test(value) || number < least || number > most)
    throw new UsageError(`${name} must be a number from ${least} to ${most}.`)
  return number
}

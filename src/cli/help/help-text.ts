import {
  allFlags,
  lineOf,
  type CliCommand,
  type Flag,
  type Flags,
  type Operand,
} from '../command.ts'

/** Columns of help texts: readable in a narrow terminal, and the same in a pipe. */
const COLUMNS = 80

/** The help of a command or a group. `path` leads to it from the root. */
export function helpText(path: readonly [CliCommand, ...CliCommand[]]): string {
  const command = path.at(-1) ?? path[0]
  const sections = [
    wrap(`${command.summary}.`),
    section(
      'Usage',
      synopses(path)
        .map((line) => wrap(line, '  ', '      '))
        .join('\n'),
    ),
    ...(command.description ?? []).map((paragraph) => wrap(paragraph)),
    ...(command.subcommands.length > 0 ? [section('Commands', listOf(command.subcommands))] : []),
    ...operandSection(command.operands),
    ...(command.run ? [section('Flags', describeFlags(command))] : []),
    section('Examples', examplesOf(command)),
    ...(command.exitCodes ? [section('Exit codes', exitCodesOf(command.exitCodes))] : []),
  ]
  return [...sections, footer(path, command)].filter(Boolean).join('\n\n')
}

/** Every way to call a command; for a group, one line for each of its commands. */
export function synopses(path: readonly [CliCommand, ...CliCommand[]]): string[] {
  const command = path.at(-1) ?? path[0]
  if (command.run) return [synopsis(lineOf(path), command)]
  if (path.length === 1) return [`${command.name} <command> [flags]`]
  return command.subcommands.map((one) => synopsis(lineOf([...path, one]), one))
}

function synopsis(line: string, { operands, flags }: CliCommand): string {
  const required = Object.entries(flags).filter(([, flag]) => flag.required)
  const isMore = Object.keys(flags).length > required.length
  return [
    line,
    ...operands.map(operandText),
    ...required.map(([name, { value }]) => `--${name} ${value}`),
    ...(isMore ? ['[flags]'] : []),
  ].join(' ')
}

function operandText({ name, optional, multiple }: Operand): string {
  const text = multiple ? `${name}…` : name
  return optional === true ? `[${text}]` : text
}

function operandSection(operands: readonly Operand[]): string[] {
  const described = operands.filter(({ summary }) => summary !== undefined)
  if (described.length === 0) return []
  return [section('Arguments', rows(described.map(({ name, summary = '' }) => [name, summary])))]
}

function listOf(commands: readonly CliCommand[]): string {
  return rows(commands.map(({ name, summary }) => [name, summary]))
}

/** Flags as `--name VALUE`, with what they do. */
export function flagRows(flags: Flags): [string, string][] {
  return Object.entries<Flag>(flags).map(([name, flag]) => [
    `${name === 'help' ? '-h, ' : ''}--${name}${flag.value === undefined ? '' : ` ${flag.value}`}`,
    flagSummary(flag),
  ])
}

function flagSummary({ summary, choices, default: value, defaultText, multiple }: Flag): string {
  const remarks = [
    choices && choices.join(', '),
    (defaultText ?? value) && `default: ${defaultText ?? value}`,
    multiple && 'can be repeated',
  ].filter(Boolean)
  return remarks.length === 0 ? summary : `${summary} (${remarks.join('; ')})`
}

const describeFlags = (command: CliCommand) => rows(flagRows(allFlags(command)))

function examplesOf({ examples }: CliCommand): string {
  return examples.map(({ does, command }) => `  # ${does}\n  ${command}`).join('\n\n')
}

function exitCodesOf(codes: NonNullable<CliCommand['exitCodes']>): string {
  return rows([
    ['0', codes[0]],
    ['1', codes[1]],
    ['2', 'usage or configuration error'],
  ])
}

function footer(path: readonly CliCommand[], { subcommands, run }: CliCommand): string {
  const line = lineOf(path)
  if (path.length === 1)
    return wrap(
      `Run “${line} help <command>” for the flags and examples of a command, and “${line} help --man” for the manual. Settings come from the environment, and from /etc/portreeve/portreeve.env or .env.`,
    )
  const [first] = subcommands
  return run || !first ? '' : wrap(`Run “${line} ${first.name} --help” for the flags of a command.`)
}

const section = (title: string, body: string) => `${title}:\n${body}`

/** Columns of the first column of a list; a longer term has a line of its own. */
const MAX_TERM = 28

/** Two columns; the second one is wrapped. */
function rows(pairs: readonly (readonly [string, string])[]): string {
  const widest = Math.min(MAX_TERM, Math.max(...pairs.map(([term]) => term.length)))
  const indent = ' '.repeat(widest + 4)
  return pairs
    .flatMap(([term, text]) => {
      const broken = lines(text, COLUMNS - indent.length).map((line) => indent + line)
      if (term.length > widest) return [`  ${term}`, ...broken]
      return [`  ${term.padEnd(widest)}${broken[0]?.slice(widest + 2)}`, ...broken.slice(1)]
    })
    .join('\n')
}

function wrap(text: string, indent = '', hanging = indent): string {
  return lines(text, COLUMNS - hanging.length)
    .map((line, index) => (index === 0 ? indent : hanging) + line)
    .join('\n')
}

/** Breaks a text at its spaces. */
function lines(text: string, columns: number): string[] {
  const broken: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      broken.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...broken, line]
}

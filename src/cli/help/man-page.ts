import { SETTINGS } from '../../config.ts'
import { COMMON_FLAGS, type CliCommand } from '../command.ts'
import { flagRows, synopses } from './help-text.ts'

/** The manual page `portreeve(1)` in roff, from the table of commands and the settings. */
export function manPage(root: CliCommand, version: string): string {
  const commands = root.subcommands.flatMap((command) => leavesOf([root, command]))
  const parts = [
    `.TH PORTREEVE 1 "" "Portreeve ${version}" "Portreeve manual"`,
    section('NAME', `portreeve \\- ${escape(root.summary)}`),
    section('SYNOPSIS', `.B portreeve\n.I command\n.RI [ flags ]`),
    section('DESCRIPTION', paragraph(INTRODUCTION)),
    section('COMMANDS', commands.map(commandPart).join('\n')),
    section('COMMON FLAGS', Object.entries(COMMON_FLAGS).map(commonFlag).join('\n')),
    section('EXIT STATUS', EXIT_STATUS.map(([code, text]) => term(code, text)).join('\n')),
    section('ENVIRONMENT', [paragraph(ENVIRONMENT), ...settingParts()].join('\n')),
    section('FILES', FILES.map(([file, text]) => term(file, text)).join('\n')),
  ]
  return `${parts.join('\n')}\n`
}

const INTRODUCTION =
  'Portreeve is a self-hosted service for people who run mail and servers: checks of domains, certificates and blocklists, DMARC reports, monitoring, delisting, IMAP migration, attack reporting and webhook capture. The command “portreeve serve” runs the service; most other commands work without it.'

const ENVIRONMENT =
  'Settings come from the environment, then from /etc/portreeve/portreeve.env, or without it from .env in the working folder. Every command has the settings of the service. PORTREEVE_ENV_FILE names another file. A checkout reads only its own .env. NO_COLOR turns colours off.'

const EXIT_STATUS = [
  ['0', 'Success.'],
  ['1', 'A check or job failed.'],
  ['2', 'Usage or configuration error.'],
] as const

const FILES = [
  [
    '/etc/portreeve/portreeve.env',
    'Settings of the service and of all commands, one NAME=value per line.',
  ],
  ['.env', 'The same in the working folder or the checkout.'],
  ['DATA_DIR/secret.key', 'The key that encrypts stored passwords, unless SECRET_KEY is set.'],
  ['DATA_DIR/postgres', 'The embedded database.'],
] as const

type Path = [CliCommand, ...CliCommand[]]

/** The commands that run, with the groups above them. */
function leavesOf(path: Path): Path[] {
  const subcommands = path.at(-1)?.subcommands ?? []
  if (subcommands.length === 0) return [path]
  return subcommands.flatMap((command) => leavesOf([...path, command]))
}

function commandPart(path: Path): string {
  const command = path.at(-1) ?? path[0]
  const own = flagRows(command.flags)
  const operands = command.operands
    .filter(({ summary }) => summary !== undefined)
    .map(({ name, summary = '' }) => [name, summary] as const)
  const codes = command.exitCodes
  return [
    `.SS ${escape(synopses(path).join(' '))}`,
    ...[`${command.summary}.`, ...(command.description ?? [])].map(paragraph),
    ...[...operands, ...own].map(([name, text]) => term(name, `${text}.`)),
    ...(codes ? [paragraph(`Exit status: 0: ${codes[0]}; 1: ${codes[1]}.`)] : []),
    ...command.examples.flatMap(({ does, command: line }) => [
      paragraph(`${does}:`),
      `.RS 4\n.EX\n${escape(line)}\n.EE\n.RE`,
    ]),
  ].join('\n')
}

function commonFlag([name, { summary }]: [string, { summary: string }]): string {
  return term(name === 'help' ? '-h, --help' : `--${name}`, `${summary}.`)
}

function settingParts(): string[] {
  return Object.entries(SETTINGS).map(([name, setting]) => {
    const { defaultText = setting.default || 'none' } = setting as { defaultText?: string }
    const text = `${setting.description} Default: ${defaultText}.`.replaceAll('`', '')
    return term(name, text)
  })
}

const section = (title: string, body: string) => `.SH ${title}\n${body}`
const paragraph = (text: string) => `.PP\n${escape(text)}`
const term = (name: string, text: string) => `.TP\n.B ${escape(name)}\n${escape(text)}`

/** Protects the characters that roff would interpret, and keeps ASCII hyphens and quotes. */
function escape(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('"', '\\(dq')
    .replace(/^[.']/, '\\&$&')
}

import type { CliCommand, Flag, Operand } from '../command.ts'
import { candidatesOf, completionNodes, quote, type CompletionNode } from './words.ts'

/** A completion script for zsh, to be sourced or put into a folder of `fpath` as `_portreeve`. */
export function zshCompletion(root: CliCommand): string {
  return `#compdef portreeve
# zsh completion for portreeve
${completionNodes(root).map(functionOf).join('\n')}
if [[ $funcstack[1] == _portreeve ]]; then
  _portreeve "$@"
else
  compdef _portreeve portreeve
fi`
}

const functionName = (path: string) =>
  `_portreeve${path.replaceAll('/', '__').replaceAll('-', '_')}`

function functionOf(node: CompletionNode): string {
  const { path, command } = node
  const body =
    command.subcommands.length > 0 ? groupBody(node) : `  _arguments -s ${argumentsOf(node)}`
  return `${functionName(path)}() {\n${body}\n}`
}

function groupBody({ path, command: { subcommands } }: CompletionNode): string {
  const commands = subcommands.map(({ name, summary }) => quote(`${name}:${summary}`)).join(' ')
  const cases = subcommands.map(
    ({ name }) => `      ${name}) ${functionName(`${path}/${name}`)} ;;`,
  )
  return `  local state line
  _arguments -C '(-h --help)'{-h,--help}'[show this help]' '1: :->command' '*:: :->argument'
  case $state in
    command)
      local -a commands=(${commands})
      _describe -t commands command commands ;;
    argument) case $line[1] in
${cases.join('\n')}
    esac ;;
  esac`
}

function argumentsOf({ flags, command: { operands } }: CompletionNode): string {
  const words = [
    ...flags.map(([name, flag]) => flagSpec(name, flag)),
    ...operands.map((operand, index) => operandSpec(operand, index)),
  ]
  return words.map(quote).join(' ')
}

function flagSpec(name: string, flag: Flag): string {
  const summary = flag.summary.replace(/[[\]:]/g, '\\$&')
  const repeat = flag.multiple ? '*' : ''
  if (flag.value === undefined) return `${repeat}--${name}[${summary}]`
  return `${repeat}--${name}=[${summary}]:${flag.value}:${actionOf(flag)}`
}

function operandSpec(operand: Operand, index: number): string {
  const position = operand.multiple ? '*' : `${index + 1}`
  return `${position}:${operand.name}:${actionOf(operand)}`
}

const NAMES = { file: '_files', folder: '_files -/', host: '_hosts' }

function actionOf(value: Flag | Operand): string {
  const candidates = candidatesOf(value)
  if (candidates === null) return ' '
  if ('choices' in candidates) return `(${candidates.choices.join(' ')})`
  return NAMES[candidates.kind]
}

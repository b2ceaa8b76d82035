import type { CliCommand, Flag, Operand } from '../command.ts'
import { candidatesOf, completionNodes, quote, type CompletionNode } from './words.ts'

/** A completion script for fish 3. */
export function fishCompletion(root: CliCommand): string {
  const nodes = completionNodes(root)
  const paths = nodes.slice(1).map(({ path }) => path)
  return `# fish completion for portreeve
function __portreeve_path
  set -l path
  for word in (commandline -opc)[2..-1]
    if contains -- "$path/$word" ${paths.join(' ')}
      set path "$path/$word"
    end
  end
  echo "$path"
end
complete -c portreeve -f
${nodes.flatMap(linesOf).join('\n')}`
}

function linesOf({ path, command, flags }: CompletionNode): string[] {
  const at = `complete -c portreeve -n 'test (__portreeve_path) = "${path}"'`
  return [
    ...command.subcommands.map(({ name, summary }) => `${at} -a ${name} -d ${fishQuote(summary)}`),
    ...flags.map(([name, flag]) => `${at} ${flagWords(name, flag)}`),
    ...command.operands.flatMap((operand) => {
      const words = valueWords(operand)
      return words === '' ? [] : [`${at} ${words}`]
    }),
  ]
}

function flagWords(name: string, flag: Flag): string {
  const short = name === 'help' ? '-s h ' : ''
  const value = flag.value === undefined ? '' : ` -r ${valueWords(flag) || '-f'}`
  return `${short}-l ${name} -d ${fishQuote(flag.summary)}${value}`
}

function valueWords(value: Flag | Operand): string {
  const candidates = candidatesOf(value)
  if (candidates === null) return ''
  if ('choices' in candidates) return `-f -a ${quote(candidates.choices.join(' '))}`
  if (candidates.kind === 'file') return '-F'
  const names =
    candidates.kind === 'folder' ? '__fish_complete_directories' : '__fish_print_hostnames'
  return `-f -a '(${names})'`
}

/** Text in single quotes of fish, where only backslash and quote are special. */
const fishQuote = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`

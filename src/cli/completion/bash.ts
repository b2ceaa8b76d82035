import type { CliCommand } from '../command.ts'
import { candidatesOf, completionNodes, type Candidates, type CompletionNode } from './words.ts'

/** A completion script for bash 3.2 and later. It needs no other package. */
export function bashCompletion(root: CliCommand): string {
  const nodes = completionNodes(root)
  const paths = nodes.slice(1).map(({ path }) => path)
  return `# bash completion for portreeve
_portreeve() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= operands=0 i word
  # bash splits “--flag=value” at the equals sign.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$path/$word" in
      ${paths.join('|')}) path=$path/$word ;;
      */-* | */=) ;;
      *) case "$path:\${COMP_WORDS[i-1]}" in
          ${valueFlags(nodes)}) ;;
          *) [[ \${COMP_WORDS[i-1]} == = ]] || operands=$((operands + 1)) ;;
        esac ;;
    esac
  done
  case "$path:$prev" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case "$path" in
${nodes.map(({ path, flags }) => `      ${path || "''"}) _portreeve_words '${flags.map(([name]) => `--${name}`).join(' ')}' ;;`).join('\n')}
    esac
    return
  fi
  case "$path:$operands" in
${nodes.flatMap(operandCases).join('\n')}
  esac
}
_portreeve_words() {
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}
_portreeve_names() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$cur"))
}
complete -F _portreeve portreeve`
}

/** Flags whose next word is their value, as patterns. */
function valueFlags(nodes: CompletionNode[]): string {
  return nodes
    .flatMap(({ path, flags }) =>
      flags.filter(([, { value }]) => value !== undefined).map(([name]) => `${path}:--${name}`),
    )
    .join('|')
}

function valueCases({ path, flags }: CompletionNode): string[] {
  return flags
    .filter(([, { value }]) => value !== undefined)
    .map(([name, flag]) => `    ${path}:--${name}) ${action(candidatesOf(flag))}return ;;`)
}

function operandCases({ path, command }: CompletionNode): string[] {
  const { subcommands, operands } = command
  const names = subcommands.map(({ name }) => name).join(' ')
  if (names !== '') return [`    ${path}:0) _portreeve_words '${names}' ;;`]
  return operands.flatMap((operand, index) => {
    const candidates = candidatesOf(operand)
    const position = operand.multiple ? '*' : index
    return candidates ? [`    ${path}:${position}) ${action(candidates)};;`] : []
  })
}

function action(candidates: Candidates): string {
  if (candidates === null) return ''
  if ('choices' in candidates) return `_portreeve_words '${candidates.choices.join(' ')}'; `
  const letter = { file: '-f', folder: '-d', host: '-A hostname' }[candidates.kind]
  return candidates.kind === 'host' ? '' : `_portreeve_names ${letter}; `
}

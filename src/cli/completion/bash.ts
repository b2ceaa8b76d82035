import type { CliCommand } from '../command.ts'
import { candidatesOf, completionNodes, type Candidates, type CompletionNode } from './words.ts'

/** A completion script for bash 3.2 and later. It needs no other package. */
export function bashCompletion(root: CliCommand): string {
  const nodes = completionNodes(root)
  const paths = nodes.slice(1).map(({ path }) => path)
  return `# bash completion for portreeve
_portreeve() {
  local line=\${COMP_LINE:0:COMP_POINT} path= operands=0 i last cur prev
  local -a words
  # Not COMP_WORDS: bash splits those at “=”, “:” and “@”.
  IFS=$' \\t' read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  last=$((\${#words[@]} - 1))
  cur=\${words[last]} prev=\${words[last-1]}
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*} cur=\${cur#*=}
  fi
  COMPREPLY=()
  for ((i = 1; i < last; i++)); do
    case "$path/\${words[i]}" in
      ${paths.join('|')}) path=$path/\${words[i]} ;;
      */-*) ;;
      *) case "$path:\${words[i-1]}" in
          ${valueFlags(nodes)}) ;;
          *) operands=$((operands + 1)) ;;
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
  local name=\${COMP_WORDS[COMP_CWORD]}
  [[ $name == = ]] && name=
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$name"))
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

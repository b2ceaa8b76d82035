import { allFlags, type CliCommand, type Flag, type Operand } from '../command.ts'

/** One command as the completions see it. */
export type CompletionNode = {
  /** The names after `portreeve`, each with a slash before it; empty for the root. */
  path: string
  command: CliCommand
  flags: [name: string, flag: Flag][]
}

/** The root, the groups and the commands, parents first. */
export function completionNodes(root: CliCommand): CompletionNode[] {
  const visit = (command: CliCommand, path: string): CompletionNode[] => [
    { path, command, flags: Object.entries(allFlags(command)) },
    ...command.subcommands.flatMap((one) => visit(one, `${path}/${one.name}`)),
  ]
  return visit(root, '')
}

/** The words that complete a value: its choices, or the kind of name that a shell knows. */
export type Candidates =
  | { choices: readonly string[] }
  | { kind: 'file' | 'folder' | 'host' }
  | null

export function candidatesOf({
  choices,
  completes,
}: Pick<Operand, 'choices' | 'completes'>): Candidates {
  if (choices) return { choices }
  return completes ? { kind: completes } : null
}

/** Text in single quotes of a POSIX shell. */
export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

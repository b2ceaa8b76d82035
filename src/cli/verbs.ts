import { defineCommand, defineGroup, type CliCommand, type Operand } from './command.ts'

/** A subcommand without flags, which is run by its name. */
export type VerbSpec<Name extends string> = {
  name: Name
  summary: string
  description?: string[]
  operands?: Operand[]
  /** What the example shows, and the arguments of the command. */
  example: [does: string, words: string]
}

/** Describes a group of such subcommands. @param run loads the implementation */
export function defineVerbs<Name extends string>(
  group: Pick<CliCommand, 'name' | 'summary' | 'examples'>,
  specs: readonly VerbSpec<Name>[],
  run: (verb: Name, operands: Record<string, string>, json: boolean) => Promise<number>,
): CliCommand {
  const subcommands = specs.map(({ example: [does, words], ...spec }) =>
    defineCommand({
      ...spec,
      examples: [{ does, command: `portreeve ${group.name} ${spec.name} ${words}`.trim() }],
      run: ({ operands, json }) => run(spec.name, namedOperands(spec, operands), json),
    }),
  )
  return defineGroup({ ...group, subcommands })
}

/** The given operands by their names, in lower case. */
function namedOperands(
  { operands = [] }: Pick<VerbSpec<string>, 'operands'>,
  values: string[],
): Record<string, string> {
  const names = operands.map(({ name }) => name.toLowerCase())
  return Object.fromEntries(values.map((value, index) => [names[index] ?? '', value]))
}

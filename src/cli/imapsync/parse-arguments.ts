import { UsageError } from '../command.ts'
import { OPTIONS, type Option } from './imapsync-options.ts'

/** The options of a command line. */
export type Arguments = {
  /** True or false where a switch, or its form with `no`, was given. */
  switchOf(name: string): boolean | undefined
  /** All values in their order. */
  valuesOf(name: string): string[]
  /** The last value. */
  valueOf(name: string): string | undefined
  numberOf(name: string): number | undefined
}

/**
 * Parses a command line as Perl’s Getopt::Long does: one or two dashes, any case, unique
 * beginnings of names, `--name value` and `--name=value`, `--no-name` and `--noname`. Empty
 * arguments, which some control panels pass, are ignored.
 * @throws UsageError for unknown, ambiguous and refused options
 */
export function parseArguments(words: readonly string[]): Arguments {
  const switches = new Map<string, boolean>()
  const values = new Map<string, string[]>()
  const rest = words.filter((word, index) => word !== '' || takesValue(words[index - 1]))
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, typed, inline] = /^--?([a-z][\w-]*)(?:=(.*))?$/is.exec(word) ?? []
    if (typed === undefined) throw new UsageError(`unexpected argument “${word}”.`)
    const { name, option, isNegated } = findOption(typed)
    refuse(name, option, isNegated)
    if (isNegated || option.value === undefined) {
      if (inline !== undefined) throw new UsageError(`--${typed} takes no value.`)
      switches.set(name, !isNegated)
      if (isNegated) values.delete(name)
      continue
    }
    const value = inline ?? rest.shift()
    if (value === undefined) throw new UsageError(`--${name} needs a value.`)
    if (option.isNumber && !/^\d+(?:\.\d+)?$/.test(value))
      throw new UsageError(`--${name} must be a number, not “${value}”.`)
    values.set(name, [...(option.multiple ? (values.get(name) ?? []) : []), value])
  }
  const valueOf = (name: string) => values.get(name)?.at(-1)
  return {
    switchOf: (name) => switches.get(name),
    valuesOf: (name) => values.get(name) ?? [],
    valueOf,
    numberOf: (name) => (valueOf(name) === undefined ? undefined : Number(valueOf(name))),
  }
}

/** An empty argument after an option that takes a value is its value. */
function takesValue(word: string | undefined): boolean {
  const [, typed] = /^--?([a-z][\w-]*)$/i.exec(word ?? '') ?? []
  if (typed === undefined) return false
  try {
    const { option, isNegated } = findOption(typed)
    return !isNegated && option.value !== undefined
  } catch {
    return false
  }
}

type Found = { name: string; option: Option; isNegated: boolean }

/** Every spelling of every option. */
const SPELLINGS = new Map<string, Found>(
  Object.entries(OPTIONS).flatMap(([name, option]) =>
    [name, ...(option.aliases ?? [])].flatMap((spelling) => {
      const found = { name, option, isNegated: false }
      const negated = { name, option, isNegated: true }
      const own: [string, Found] = [spelling, found]
      if (option.negated === undefined) return [own]
      return [own, [`no${spelling}`, negated], [`no-${spelling}`, negated]] as [string, Found][]
    }),
  ),
)

function findOption(typed: string): Found {
  const lower = typed.toLowerCase()
  const exact = SPELLINGS.get(lower)
  if (exact) return exact
  const matching = [...SPELLINGS].filter(([spelling]) => spelling.startsWith(lower))
  const [first] = matching
  if (!first) throw new UsageError(`unknown option --${typed}.`)
  const isUnique = matching.every(
    ([, { name, isNegated }]) => name === first[1].name && isNegated === first[1].isNegated,
  )
  if (isUnique) return first[1]
  const names = matching.map(([spelling]) => `--${spelling}`).slice(0, 6)
  throw new UsageError(`--${typed} is ambiguous: ${names.join(', ')}.`)
}

function refuse(name: string, { effect, negated, summary }: Option, isNegated: boolean): void {
  const isRefused = isNegated ? negated === 'refused' : effect === 'refused'
  if (isRefused) throw new UsageError(`--${isNegated ? 'no' : ''}${name} is refused: ${summary}.`)
}

/** How a language writes values. */
export type LiteralStyle = {
  quote: (text: string) => string
  /** The key of an object, with quotes where the language needs them. */
  key: (name: string) => string
  words: { true: string; false: string; null: string }
}

/**
 * Writes a JSON value as a literal of a language, two spaces or four an indent as `indent` says.
 * @param margin spaces before every line but the first
 */
export function literal(value: unknown, style: LiteralStyle, indent: number, margin = 0): string {
  if (value === null || value === undefined) return style.words.null
  if (typeof value === 'boolean') return value ? style.words.true : style.words.false
  if (typeof value === 'string') return style.quote(value)
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = margin + indent
  const below = (each: unknown) => literal(each, style, indent, inner)
  const [open, close, lines] = Array.isArray(value)
    ? ['[', ']', value.map(below)]
    : ['{', '}', Object.entries(value).map(([name, each]) => `${style.key(name)}: ${below(each)}`)]
  if (lines.length === 0) return open + close
  const oneLine = `${open}${lines.join(', ')}${close}`
  if (Array.isArray(value) && oneLine.length < 60 && !oneLine.includes('\n')) return oneLine
  const space = ' '.repeat(inner)
  return `${open}\n${lines.map((line) => `${space}${line},\n`).join('')}${' '.repeat(margin)}${close}`
}

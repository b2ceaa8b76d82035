import { format, type FormatOptions } from 'oxfmt'

/** A generated Markdown file as `npm run format` would leave it. */
export function formattedMarkdown(text: string): Promise<string> {
  return formatted('page.md', text, { printWidth: 100, proseWrap: 'always', singleQuote: true })
}

/** A generated JSON file, with lines up to 120 characters. */
export function formattedJson(document: unknown): Promise<string> {
  return formatted('document.json', JSON.stringify(document), { printWidth: 120 })
}

async function formatted(name: string, text: string, options: FormatOptions): Promise<string> {
  const { code, errors } = await format(name, text, options)
  if (errors.length > 0) throw new Error(`${name}: ${errors.map((e) => e.message).join(', ')}`)
  return code
}

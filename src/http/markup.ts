/** Markup whose texts are escaped. Only `markup` creates it. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = Html | Html[] | string | number | null

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Builds markup: every value but markup itself is escaped, for text and quoted attributes. Not named
 * `html`, because the formatter would reformat its templates and break conditional comments.
 */
export function markup(strings: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(
    strings.reduce((text, string, index) => text + textOf(values[index - 1] ?? null) + string),
  )
}

function textOf(value: Value): string {
  if (value === null) return ''
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(({ text }) => text).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

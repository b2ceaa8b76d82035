/** Names of the values that a body may contain as `{{name}}`. */
export const TEMPLATE_VALUES = [
  'id',
  'title',
  'text',
  'severity',
  'phase',
  'link',
  'incident',
  'time',
] as const

export type TemplateValues = Record<(typeof TEMPLATE_VALUES)[number], string>

/** Placeholders of one body: each may stand for a text of some thousand characters. */
const MAX_PLACEHOLDERS = 20

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g

/** Why a body cannot be sent, in a sentence; null where it can. */
export function problemWithTemplate(body: string, format: 'json' | 'form'): string | null {
  const names = [...body.matchAll(PLACEHOLDER)].map(([, name = '']) => name)
  if (names.length > MAX_PLACEHOLDERS)
    return `The body may contain up to ${MAX_PLACEHOLDERS} placeholders.`
  if (names.some((name) => !(TEMPLATE_VALUES as readonly string[]).includes(name)))
    return `The body contains an unknown placeholder. Known are ${TEMPLATE_VALUES.join(', ')}.`
  if (format === 'json' && !isJson(body))
    return 'The body is not JSON. Write placeholders inside of quotes: "{{title}}".'
  return null
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}

/** Fills the strings of a JSON document, after parsing: no value can change its structure. */
export function fillJson(body: string, values: TemplateValues): unknown {
  return JSON.parse(body, (_key, value: unknown) =>
    typeof value === 'string' ? fill(value, values) : value,
  )
}

/** Fills the values of a form, after parsing. */
export function fillForm(body: string, values: TemplateValues): URLSearchParams {
  const filled = [...new URLSearchParams(body.trim())].map(([name, value]) => [
    name,
    fill(value, values),
  ])
  return new URLSearchParams(filled as [string, string][])
}

/** A value that itself looks like a placeholder stays as it is. */
function fill(text: string, values: TemplateValues): string {
  return text.replaceAll(
    PLACEHOLDER,
    (whole, name: string) => (values as Record<string, string>)[name] ?? whole,
  )
}

import { MACRO } from './spf-record.ts'

/** The meaning of each macro letter (RFC 7208, 7.2), in lower case. */
export type MacroValues = Record<
  's' | 'l' | 'o' | 'd' | 'i' | 'p' | 'v' | 'h' | 'c' | 'r' | 't',
  string
>

const LITERALS: Record<string, string> = { '%': '%', _: ' ', '-': '%20' }

/** Replaces the macros of a text that `parseSpf` or `isExplanation` accepted. */
export function expandMacros(text: string, values: MacroValues): string {
  return text.replaceAll(
    MACRO,
    (_macro, literal?: string, letter = '', count = '', reverse = '', delimiters = '') => {
      if (literal !== undefined) return LITERALS[literal] ?? ''
      const name = letter.toLowerCase() as keyof MacroValues
      const value = transform(values[name], count, reverse !== '', delimiters)
      return letter === name ? value : urlEscape(value)
    },
  )
}

/** RFC 7208, 7.3: split, reversed, the rightmost parts kept, joined with dots. */
function transform(value: string, count: string, isReversed: boolean, delimiters: string): string {
  if (count === '' && !isReversed && delimiters === '') return value
  const parts = splitAt(value, delimiters || '.')
  if (isReversed) parts.reverse()
  return (count === '' ? parts : parts.slice(-Number(count))).join('.')
}

function splitAt(value: string, delimiters: string): string[] {
  const parts = ['']
  for (const character of value) {
    if (delimiters.includes(character)) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${character}`)
  }
  return parts
}

/** RFC 7208, 7.3: everything but the unreserved characters of RFC 3986. */
function urlEscape(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const MAX_NAME_LENGTH = 253

/**
 * Expands a domain-spec to a domain name. A name that is too long loses labels on the left (RFC
 * 7208, 7.3).
 */
export function expandDomain(spec: string, values: MacroValues): string {
  let name = expandMacros(spec, values).replace(/\.$/, '')
  while (name.length > MAX_NAME_LENGTH && name.includes('.'))
    name = name.slice(name.indexOf('.') + 1)
  return name
}

/** Whether a text has the form of a domain name, so that the DNS can be asked about it. */
export function isQueryable(name: string): boolean {
  const labels = name.split('.')
  return (
    name.length <= MAX_NAME_LENGTH &&
    labels.every((label) => label.length > 0 && label.length <= 63)
  )
}

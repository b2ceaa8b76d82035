import { messageOf } from '../../errors.ts'
import { UsageError } from '../command.ts'

/**
 * Converts a regular expression of Perl. `(?i)` makes the whole expression ignore case, wherever it
 * stands.
 * @throws UsageError for one that JavaScript does not know
 */
export function perlPattern(source: string, option: string, flags = ''): RegExp {
  const body = source
    .replaceAll('(?i)', '')
    .replaceAll('\\A', '^')
    .replace(/\\[zZ]/g, '$')
    .replace(/\\Q(.*?)(?:\\E|$)/gs, (_, literal: string) => RegExp.escape(literal))
  try {
    return new RegExp(body, source.includes('(?i)') ? `${flags.replace('i', '')}i` : flags)
  } catch (error) {
    throw new UsageError(`--${option} ${source}: ${messageOf(error)}.`)
  }
}

const PAIRS: Record<string, string> = { '{': '}', '(': ')', '[': ']', '<': '>' }

/**
 * Reads a substitution such as `s/^Old/New/i` or `s{^Old}{New}`.
 * @returns a function that applies it
 * @throws UsageError for everything else, because code is never run
 */
export function perlSubstitution(text: string, option: string): (name: string) => string {
  const wrong = new UsageError(
    `--${option} ${text} must have the form s/FROM/TO/, with the flags g and i.`,
  )
  const open = text[1]
  if (text[0] !== 's' || open === undefined || /[\w\s]/.test(open)) throw wrong
  const close = PAIRS[open] ?? open
  const from = readPart(text, 2, open, close)
  if (!from) throw wrong
  const isPaired = close !== open
  if (isPaired && text[from.end] !== open) throw wrong
  const to = readPart(text, from.end + (isPaired ? 1 : 0), open, close)
  const flags = to ? text.slice(to.end) : ''
  if (!to || !/^[gi]*$/.test(flags)) throw wrong
  const pattern = perlPattern(from.part, option, flags)
  const replacement = replacementOf(to.part)
  return (name) => name.replace(pattern, replacement)
}

/** Reads up to the end, which no backslash precedes. Pairs of braces can be nested. */
function readPart(
  text: string,
  start: number,
  open: string,
  close: string,
): { part: string; end: number } | null {
  let [part, depth] = ['', 0]
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string
    if (character === close && depth === 0) return { part, end: at + 1 }
    if (open !== close) depth += Number(character === open) - Number(character === close)
    if (character === '\\' && text[at + 1] === close && open === close) part += text[(at += 1)]
    else if (character === '\\') part += character + (text[(at += 1)] ?? '')
    else part += character
  }
  return null
}

/** `$1`, `${1}` and `\1` name groups; other dollars and backslashes stand for the next character. */
function replacementOf(text: string): (...match: unknown[]) => string {
  return (...match) => {
    // The offset follows the groups.
    const groups = match.slice(
      0,
      match.findIndex((value) => typeof value === 'number'),
    )
    return text.replace(
      /[$\\](\d)|\$\{(\d)\}|\$&|\\(.)/gs,
      (whole, group?: string, braced?: string, escaped?: string) => {
        if (whole === '$&') return String(match[0])
        const number = group ?? braced
        if (number === undefined) return escaped ?? ''
        const value = groups[Number(number)]
        return typeof value === 'string' ? value : ''
      },
    )
  }
}

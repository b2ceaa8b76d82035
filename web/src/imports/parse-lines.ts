import { bareText, isNetwork, plainHost, visibleText } from '../host-text.ts'

/** What a line is: a name to add, or why it is not one. */
export type ParsedLine = {
  /** From 1, as editors count. */
  line: number
  text: string
  name: string
  label: string
  problem: LineProblem | null
}
export type LineProblem =
  | { kind: 'not-a-name' | 'not-a-domain' | 'label-too-long' }
  | { kind: 'duplicate'; of: number }

/** What may be added: hosts and addresses, or domains only. */
export type ImportKind = 'hosts' | 'domains'

/** Names that are sent in one request. */
export const MAX_ENTRIES = 500
const MAX_LABEL_CHARS = 100

/** Titles of a first line that names the columns, as in exported files. */
const HEADER = /^(host|hosts|host ?name|domain|domains|domain ?name|name|address|ip)$/i
const COMMENT = /^\s*(#|;|\/\/)/
/** `sep=;`, with which spreadsheets name the delimiter. */
const SEPARATOR = /^"?sep=/i

/**
 * Reads names that people paste or drop: one a line, with a label after a comma, a semicolon or a
 * tab; several domains, which have no labels, may share a line. URLs and email addresses count as
 * their host. Empty lines and comments are left out.
 */
export function parseLines(pasted: string, kind: ImportKind): ParsedLine[] {
  const seen = new Map<string, number>()
  const rows = visibleText(pasted)
    .split(/\r\n|\n|\r/)
    .map((text, at) => ({ text: text.trim(), line: at + 1 }))
    .filter(({ text }) => /[^\s,;"]/.test(text) && !COMMENT.test(text))
    .filter(({ text }, at) => at > 0 || !SEPARATOR.test(text))
  const titles = splitFields(rows[0]?.text ?? '')
  const hasHeader = HEADER.test(titles[0] ?? '')
  const canShare = kind === 'domains' && !(hasHeader && titles.length > 1)
  return rows
    .slice(hasHeader ? 1 : 0)
    .flatMap(({ text, line }) =>
      entriesOf(text, canShare).map((entry) => ({ ...entry, text, line })),
    )
    .map(({ name, label, text, line }) => {
      const key = asciiOf(name)
      const problem = problemOf(name, label, kind) ?? duplicateOf(seen.get(key))
      if (problem) return { line, text, name, label, problem }
      seen.set(key, line)
      return { line, text, name, label, problem: null }
    })
}

type Entry = Pick<ParsedLine, 'name' | 'label'>

/** The name of a line with its label, or the domains of a line that has nothing else. */
function entriesOf(text: string, canShare: boolean): Entry[] {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  const names = words.map(nameOf)
  if (canShare && names.every((name) => problemOf(name, '', 'domains') === null))
    return names.map((name) => ({ name, label: '' }))
  const [first = '', label = ''] = splitFields(text.replace(/^[\s,;]+/, ''))
  return [{ name: nameOf(first), label }]
}

function duplicateOf(line: number | undefined): LineProblem | null {
  return line === undefined ? null : { kind: 'duplicate', of: line }
}

function problemOf(name: string, label: string, kind: ImportKind): LineProblem | null {
  const isAddress = isIpAddress(name)
  if (kind === 'domains' && (isAddress || (isHostName(name) && !name.includes('.'))))
    return { kind: 'not-a-domain' }
  if (!isAddress && !isHostName(name)) return { kind: 'not-a-name' }
  return label.length > MAX_LABEL_CHARS ? { kind: 'label-too-long' } : null
}

/** The fields of a line of CSV or TSV; the first separator of the line counts. */
function splitFields(text: string): string[] {
  const separator = /["]/.test(text[0] ?? '')
    ? (/"\s*([,;\t])/.exec(text)?.[1] ?? ',')
    : (/[,;\t]/.exec(text)?.[0] ?? ',')
  const fields: string[] = []
  let field = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (isQuoted && char === '"' && text[at + 1] === '"') field += text.charAt(++at)
    else if (char === '"' && (isQuoted || field.trim() === '')) isQuoted = !isQuoted
    else if (char === separator && !isQuoted) {
      fields.push(field.trim())
      field = ''
    } else field += char
  }
  return [...fields, field.trim()]
}

/** The host of a URL, the domain of an email address, or the text itself, in lower case. */
function nameOf(field: string): string {
  // An exported file has an apostrophe before what would be a formula.
  const text = bareText(field.replace(/^'(?=[=+\-@])/, '').replace(/\s+#.*$/, ''))
  const email = /<([^<>]+)>$/.exec(text)?.[1] ?? text
  const withoutScheme = email.replace(/^([a-z][a-z\d+.-]*:\/\/|mailto:)/i, '')
  // A network or a range is no host, unlike the address of a URL.
  if (withoutScheme === email && isNetwork(email)) return email
  const authority = (withoutScheme.split(/[/?#]/)[0] ?? '').replace(/^.*@/, '')
  const bracketed = /^\[([\da-f:.]+)\](:\d+)?$/i.exec(authority)?.[1]
  if (bracketed) return plainAddress(bracketed.toLowerCase())
  const isIpv6 = authority.split(':').length > 2
  const host = isIpv6 ? authority : authority.replace(/:\d+$/, '')
  return plainAddress(plainHost(host))
}

/** Without leading zeros, which some read as octal numbers. */
const IPV4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/

/** An IPv4 address that is written as IPv6 (RFC 4291, 2.5.5.2) as IPv4. */
function plainAddress(host: string): string {
  const url =
    host.includes(':') && URL.canParse(`http://[${host}]/`) ? new URL(`http://[${host}]/`) : null
  const [, high, low] = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(url?.hostname ?? '') ?? []
  if (high === undefined || low === undefined) return host
  return [high, low].flatMap((hex) => [parseInt(hex, 16) >> 8, parseInt(hex, 16) & 255]).join('.')
}

function isIpAddress(text: string): boolean {
  const octets = IPV4.exec(text)?.slice(1)
  if (octets) return octets.every((octet) => Number(octet) <= 255)
  return text.includes(':') && URL.canParse(`http://[${text}]/`)
}

function isHostName(name: string): boolean {
  if (name === '' || /[\s%:/@"“”„‘’‚«»]/.test(name) || isNetwork(name)) return false
  const labels = asciiOf(name).split('.')
  const isNumber = /^\d+$/.test(labels.at(-1) ?? '')
  return !isNumber && name.length <= 253 && labels.every((label) => /^[\w-]{1,63}$/.test(label))
}

/** A-labels, so that two spellings of a name are one; the text itself where there are none. */
function asciiOf(name: string): string {
  const url =
    /^[^\s/?#@:\\]+$/.test(name) && URL.canParse(`http://${name}/`) ? `http://${name}/` : null
  return url === null ? name : new URL(url).hostname
}

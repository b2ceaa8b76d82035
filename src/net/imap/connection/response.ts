import { IMAP_LIMITS } from '../limits.ts'
import { NotImap } from './response-parser.ts'

/** A literal that was passed to a sink while it arrived. */
export type Streamed = { streamed: number }

/**
 * Atoms and quoted strings are strings with one character per byte; NIL is null; literals are
 * buffers.
 */
export type Value = string | null | Buffer | Streamed | Value[]

export type ResponseCode = { name: string; args: Value[]; text: string }

export type Response =
  | { kind: 'continue'; text: string }
  | { kind: 'status'; tag: string; status: StatusWord; code: ResponseCode | null; text: string }
  /** Untagged data: `* 12 FETCH (UID 7)` is `['12', 'FETCH', ['UID', '7']]`. */
  | { kind: 'data'; values: Value[] }

type StatusWord = 'OK' | 'NO' | 'BAD' | 'BYE' | 'PREAUTH'

/** Responses in bad syntax that are skipped on one connection. */
const MAX_SKIPPED = 100

/**
 * Creates an assembler that builds one response from its segments and literals. A response in bad
 * syntax is skipped: it must cost neither the connection nor other responses. Throws only `NotImap`;
 * also for bad syntax after a literal, which then had another length than was announced.
 */
export function createResponseAssembler(): {
  /** The part of an unfinished response that was already read. It tells which literal follows. */
  readonly head: Value[]
  segment(text: string): void
  /** Whether an empty line is skipped: one after a literal within a list, which some servers send. */
  skipsEmptyLine(): boolean
  literal(value: Buffer | Streamed): void
  finish(): Response
} {
  let root: Value[] = []
  let open: Value[][] = [root]
  let status: Response | undefined
  let skipped = 0
  /** Why the response is skipped. */
  let problem: NotImap | undefined
  let hasLiteral = false
  let isAfterLiteral = false

  const innermost = () => open.at(-1) as Value[]

  function segment(text: string): void {
    isAfterLiteral = false
    const isFirst = root.length === 0 && open.length === 1 && !status && !problem
    if (isFirst) status = statusOf(text)
    if (status || problem) return
    const rest = isFirst ? untagged(text) : text
    const listed = isFirst ? listedMailbox(rest) : null
    if (listed) root.push(...listed)
    else readValues(rest)
    if (isFirst) capitaliseName(root)
  }

  function readValues(text: string): void {
    try {
      scan(text, open)
    } catch (error) {
      if (!(error instanceof NotImap) || hasLiteral || !canSkip(root)) throw error
      problem = error
      root.length = 0
    }
  }

  function reset(): void {
    root = []
    open = [root]
    status = problem = undefined
    hasLiteral = false
  }

  return {
    get head() {
      return root
    },
    segment,
    skipsEmptyLine() {
      const skips = isAfterLiteral && open.length > 1
      isAfterLiteral = false
      return skips
    },
    literal(value) {
      isAfterLiteral = true
      if (problem) return
      hasLiteral = true
      const list = innermost()
      // The marker of the literal is in its place until it arrives.
      list[list.length - 1] = value
    },
    finish() {
      if (!status && !problem && (open.length !== 1 || root.length === 0)) {
        problem = new NotImap('a list does not end')
        if (hasLiteral || !canSkip(root)) throw problem
      }
      if (problem && (skipped += 1) > MAX_SKIPPED) throw problem
      const done = status ?? { kind: 'data' as const, values: problem ? [] : root }
      reset()
      return done
    },
  }
}

/** The name of a response, behind its number if it has one, in any case (RFC 9051, 9). */
function capitaliseName(root: Value[]): void {
  const at = numberOf(root[0]) === null ? 0 : 1
  const name = root[at]
  if (typeof name === 'string') root[at] = name.toUpperCase()
}

/** A search without its result would look as if it had found nothing. */
function canSkip(head: readonly Value[]): boolean {
  return head.length > 0 && !/SEARCH$|^VANISHED$/i.test(stringOf(head[0]) ?? '')
}

const LISTED = /^(X?LIST|LSUB) (\([^()]*\)) ("(?:\\.|[^"\\])"|""|NIL|\S) (.+)$/is
const QUOTED_NAME = /^"[^"\\]*(?:\\.[^"\\]*)*"(?: \(.*)?$/s
const LITERAL_NAME = /^~?\{\d{1,15}\+?\}$/
/** Extended data after a name (RFC 5258, 6). */
const EXTENDED_DATA = / \((?:"?(?:CHILDINFO|OLDNAME)"? .*)?\)$/is
/** Bounds the time for a line of megabytes. */
const MAX_EXTENDED_CHARS = 4_096
const COUNTED = /^(STATUS) ([^"{(].*) (\([^()]*\)) ?$/is

/**
 * Reads a LIST line whose name is neither a well-formed quoted string nor a literal, or a STATUS
 * line whose name is no string: the name goes to the end of the line, or to its counts. Servers
 * send names with spaces, tabs and 8-bit characters without quotes, and NIL is a name here (RFC
 * 9051, 4.5). Null for any other line.
 */
function listedMailbox(text: string): Value[] | null {
  const counted = COUNTED.exec(text)
  if (counted) return [counted[1] ?? '', counted[2] ?? '', argumentsOf(counted[3] ?? '')[0] ?? []]
  const [, kind, flags = '', delimiter = '', name = ''] = LISTED.exec(text) ?? []
  if (kind === undefined) return unreadableMailbox(text)
  if (QUOTED_NAME.test(name) || LITERAL_NAME.test(name)) return null
  const isQuoted = name.startsWith('"')
  const bare = isQuoted ? unescapeQuoted(name.slice(1).replace(/"$/, '')) : name
  return [
    kind,
    argumentsOf(flags)[0] ?? [],
    delimiter.toUpperCase() === 'NIL' ? null : unescapeQuoted(delimiter.replace(/^"|"$/g, '')),
    isQuoted || name.length > MAX_EXTENDED_CHARS ? bare : bare.replace(EXTENDED_DATA, ''),
  ]
}

/**
 * A folder whose line cannot be read is listed with all of the line as its name: then it is
 * reported as a folder that cannot be opened. Left out, it would be lost without a word.
 */
function unreadableMailbox(text: string): Value[] | null {
  const [, kind, rest] = /^(X?LIST|LSUB) (.+)$/is.exec(text) ?? []
  if (kind === undefined || rest === undefined || isReadable(text)) return null
  return [kind, [], null, rest]
}

function isReadable(text: string): boolean {
  const values: Value[] = []
  const open = [values]
  try {
    scan(text, open)
    return open.length === 1
  } catch {
    return false
  }
}

function unescapeQuoted(text: string): string {
  return text.replace(/\\(["\\])/g, '$1')
}

function untagged(text: string): string {
  if (!text.startsWith('* ')) throw new NotImap(`the line “${text.slice(0, 60)}” is no response`)
  return text.slice(2)
}

function statusOf(text: string): Response | undefined {
  if (text.startsWith('+')) return { kind: 'continue', text: text.slice(1).trimStart() }
  const match = /^(\*|[^\s()*+"\\]+) (OK|NO|BAD|BYE|PREAUTH)(?: (.*))?$/is.exec(text)
  if (!match) return undefined
  const [, tag = '', word = '', words = ''] = match
  const rest = words.slice(0, IMAP_LIMITS.statusTextBytes)
  return { kind: 'status', tag, status: word.toUpperCase() as StatusWord, ...codeOf(rest) }
}

/** Splits `[APPENDUID 7 1:3] Done` into its code and its text. */
function codeOf(rest: string): { code: ResponseCode | null; text: string } {
  const match = /^\[([^\s\]]+)(?: ((?:"(?:\\.|[^"\\])*"|\([^)]*\)|[^\]"(])*))?\] ?(.*)$/s.exec(rest)
  if (!match) return { code: null, text: rest }
  const [, name = '', inside = '', text = ''] = match
  return { code: { name: name.toUpperCase(), args: argumentsOf(inside), text: inside }, text }
}

/**
 * Some codes contain text that is not IMAP syntax (`[REFERRAL imap://…]`). They have no arguments,
 * only text.
 */
function argumentsOf(inside: string): Value[] {
  const values: Value[] = []
  try {
    scan(inside, [values])
    return values
  } catch {
    return []
  }
}

// Unrolled: a pattern that alternates for every character overflows on strings of megabytes.
const QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"/sy
/**
 * An atom, including the brackets of `BODY[HEADER.FIELDS (MESSAGE-ID)]<0>`. Servers repeat keywords
 * with quotes and 8-bit characters as clients gave them: only ASCII spaces end an atom, not the
 * 0xA0 of “à” in UTF-8.
 */
// oxlint-disable-next-line no-control-regex
const ATOM = /[^\0- ()[{]*(?:\[[^\][]{0,500}\][^\0- ()[{]*|[[{][^\0- ()[{]*)*/y
const LITERAL = /~?\{\d{1,15}\+?\}$/y

/**
 * Reads values into the innermost open list. Lists may stay open at the end, where a literal
 * interrupts the line.
 */
function scan(text: string, open: Value[][]): void {
  let at = 0
  while (at < text.length) {
    const sign = text[at] as string
    const list = open.at(-1) as Value[]
    if (sign <= ' ') at += 1
    else if (sign === '(') {
      if (open.length > IMAP_LIMITS.nesting) throw new NotImap('lists are nested too deep')
      const inner: Value[] = []
      list.push(inner)
      open.push(inner)
      at += 1
    } else if (sign === ')') {
      if (open.length === 1) throw new NotImap('a list ends that has not begun')
      open.pop()
      at += 1
    } else at += scanString(text, at, list)
  }
}

/** Reads one string at `at` into the list. Returns its length. */
function scanString(text: string, at: number, list: Value[]): number {
  if (text[at] === '"') {
    const end = endOfMatch(QUOTED, text, at)
    if (end === null) throw new NotImap('a quoted string does not end')
    list.push(text.slice(at + 1, end - 1).replace(/\\(.)/gs, '$1'))
    return end - at
  }
  const literalEnd = endOfMatch(LITERAL, text, at)
  if (literalEnd !== null) {
    list.push(null)
    return literalEnd - at
  }
  const atom = text.slice(at, endOfMatch(ATOM, text, at) ?? at)
  if (atom === '') throw new NotImap(`there is a stray “${text[at]}”`)
  list.push(atom.length === 3 && atom.toUpperCase() === 'NIL' ? null : atom)
  return atom.length
}

/** Where a match at `at` ends; null without one. */
function endOfMatch(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : null
}

/**
 * Returns a string or literal with one character per byte; null for NIL, lists and streamed
 * literals.
 */
export function stringOf(value: Value | undefined): string | null {
  if (typeof value === 'string') return value
  return Buffer.isBuffer(value) ? value.toString('latin1') : null
}

/** Returns the strings of a list; an empty list for anything else. */
export function stringsOf(value: Value | undefined): string[] {
  return Array.isArray(value) ? value.map(stringOf).filter((item) => item !== null) : []
}

/** Returns an unsigned number of up to 15 digits; null for anything else. */
export function numberOf(value: Value | undefined): number | null {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}

/** Returns a UID or another number from 1 to 4,294,967,295 (RFC 9051, 9: nz-number). */
export function positiveOf(value: Value | undefined): number | null {
  const number = numberOf(value)
  return number !== null && number >= 1 && number < 2 ** 32 ? number : null
}

/**
 * Maps names in capitals to values: `['UID', '7', 'RFC822.SIZE', '9']`. Domino has some pairs in a
 * list of their own.
 */
export function pairsOf(value: Value | undefined): Map<string, Value> {
  const pairs = new Map<string, Value>()
  if (!Array.isArray(value)) return pairs
  for (let at = 0; at < value.length; at += 1) {
    const item = value[at]
    if (Array.isArray(item)) {
      for (const [name, inner] of pairsOf(item)) pairs.set(name, inner)
      continue
    }
    const name = stringOf(item)
    at += 1
    if (name !== null && at < value.length) pairs.set(name.toUpperCase(), value[at] as Value)
  }
  return pairs
}

export type NamedValue = { name: string; value: string }
/** One `name=value` of a record. `at` is where its name stands in the text, from 0. */
export type Tag = NamedValue & { at: number }
/** `isRepeated`: the tag is given more than once, and the first one counts. */
export type TagError = { at: number; message: string; isRepeated?: true }
export type TagList = {
  tags: Tag[]
  /** Tags whose name stood there before; each is also among the errors. */
  repeated: Tag[]
  errors: TagError[]
}

/** How the records of a protocol write their tags. */
type TagGrammar = {
  name: RegExp
  /** White space may stand around the equals sign. */
  isSpaced: boolean
  /** Line breaks before white space count as white space. */
  isFolded: boolean
  /** Values may have characters beyond ASCII. */
  isInternational?: boolean
}

/** RFC 6376, 3.2, where folding white space may stand around names and values. */
export const DKIM_TAGS: TagGrammar = { name: /^[A-Za-z]\w*$/, isSpaced: true, isFolded: true }
/** RFC 8616, 5: a signature in internationalized mail may have domains in U-labels. */
export const SIGNATURE_TAGS: TagGrammar = { ...DKIM_TAGS, isInternational: true }
/** RFC 9989, 4.8, and BIMI: the tags of DKIM without folding. */
const DMARC_TAGS: TagGrammar = { ...DKIM_TAGS, isFolded: false }
/** RFC 8460, 3, and RFC 8461, 3.1: no white space within a field. */
export const TLS_FIELDS: TagGrammar = {
  name: /^[A-Za-z\d][\w.-]{0,31}$/,
  isSpaced: false,
  isFolded: false,
}

/**
 * Removes WSP from both ends: space and tab alone (RFC 5234, B.1). `String.trim` would also remove
 * line breaks and no-break spaces, which make a record invalid.
 */
export function trimWsp(text: string): string {
  let [start, end] = [0, text.length]
  while (isWsp(text[start])) start += 1
  while (end > start && isWsp(text[end - 1])) end -= 1
  return text.slice(start, end)
}

const isWsp = (character: string | undefined) => character === ' ' || character === '\t'

/** The items of a list, without WSP around them. */
export function listItems(text: string, separator: ',' | ':'): string[] {
  return text.split(separator).map(trimWsp)
}

/**
 * Parses `name=value; name=value`, which DKIM, DMARC, MTA-STS, TLS-RPT and BIMI records share.
 * Unreadable parts are in `errors`; of a duplicate name the first counts.
 */
export function parseTagList(published: string, grammar: TagGrammar = DMARC_TAGS): TagList {
  const list: TagList = { tags: [], repeated: [], errors: [] }
  // Of the same length, so that positions stay.
  const text = grammar.isFolded ? published.replaceAll(/\r\n(?=[ \t])/g, '  ') : published
  const seen = new Set<string>()
  const pieces = text.split(';')
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    const trimmed = trimWsp(piece)
    const isEnd = index === pieces.length - 1 && index > 0
    if (trimmed !== '' || !isEnd)
      readTag({ text: trimmed, at: at + piece.indexOf(trimmed) }, list, seen, grammar)
    at += piece.length + 1
  }
  return list
}

const NOT_ASCII = /[^\t\x20-\x7E]/u
const CONTROL = /[^\t\P{Cc}]/u

function readTag(
  { text, at }: { text: string; at: number },
  { tags, repeated, errors }: TagList,
  seen: Set<string>,
  { name: form, isSpaced, isInternational = false }: TagGrammar,
): void {
  if (text === '') {
    errors.push({ at, message: 'nothing stands between two semicolons' })
    return
  }
  const equals = text.indexOf('=')
  const before = text.slice(0, Math.max(0, equals))
  const after = text.slice(equals + 1)
  const name = isSpaced ? trimWsp(before) : before
  const value = isSpaced ? trimWsp(after) : after
  const stranger = (isInternational ? CONTROL : NOT_ASCII).exec(text)
  if (stranger)
    errors.push({
      at: at + stranger.index,
      message: `${describeCharacter(stranger[0])} is not allowed in a record`,
    })
  const tag = { name, value, at }
  if (!form.test(name) || (!isSpaced && isWsp(value[0]))) {
    const message = `“${text.slice(0, 40)}” is not of the form name=value`
    if (!stranger) errors.push({ at, message })
  } else if (seen.has(name)) {
    errors.push({ at, message: `${name.slice(0, 40)} is given more than once`, isRepeated: true })
    repeated.push(tag)
  } else {
    tags.push(tag)
  }
  if (name !== '') seen.add(name)
}

const CHARACTER_NAMES = new Map([
  ['\u00A0', 'a no-break space'],
  ['\n', 'a line break'],
  ['\r', 'a line break'],
])

/** “é”; what cannot be seen is called by its name or number. */
function describeCharacter(character: string): string {
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  if (!/[\p{Z}\p{C}]/u.test(character)) return `“${character}” (U+${code})`
  return `${CHARACTER_NAMES.get(character) ?? 'an invisible character'} (U+${code})`
}

/** The value of a tag, or undefined. Names are case-sensitive. */
export function valueOf(tags: readonly NamedValue[], name: string): string | undefined {
  return tags.find((tag) => tag.name === name)?.value
}

/** Tag names and values as an object. */
export function tagsObject(tags: readonly NamedValue[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ name, value }) => [name, value]))
}

/** One `name=value` of a record. `at` is where its name stands in the text, from 0. */
export type Tag = { name: string; value: string; at: number }
/** `isRepeated`: the tag is given more than once, and the first one counts. */
export type TagError = { at: number; message: string; isRepeated?: true }
export type TagList = {
  tags: Tag[]
  /** Tags whose name stood there before; each is also among the errors. */
  repeated: Tag[]
  errors: TagError[]
}

/**
 * Parses `name=value; name=value` (RFC 6376, 3.2), which DKIM, DMARC, MTA-STS, TLS-RPT and BIMI
 * records share. Unreadable parts are in `errors`; of a duplicate name the first counts.
 */
export function parseTagList(text: string): TagList {
  const list: TagList = { tags: [], repeated: [], errors: [] }
  const seen = new Set<string>()
  const pieces = text.split(';')
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    const start = at + piece.length - piece.trimStart().length
    const isEnd = index === pieces.length - 1 && index > 0
    if (piece.trim() !== '' || !isEnd) readTag(piece.trim(), start, list, seen)
    at += piece.length + 1
  }
  return list
}

function readTag(
  piece: string,
  at: number,
  { tags, repeated, errors }: TagList,
  seen: Set<string>,
): void {
  const equals = piece.indexOf('=')
  const name = piece.slice(0, Math.max(0, equals)).trimEnd()
  const wrong = whyNotTag(piece, name, seen)
  const tag = { name, value: piece.slice(equals + 1).trim(), at }
  const isRepeated = wrong !== null && seen.has(name)
  if (wrong) errors.push({ at, message: wrong, ...(isRepeated && { isRepeated }) })
  if (isRepeated) repeated.push(tag)
  if (!wrong) tags.push(tag)
  if (name !== '') seen.add(name)
}

function whyNotTag(piece: string, name: string, seen: Set<string>): string | null {
  if (piece === '') return 'nothing stands between two semicolons'
  if (!/^[A-Za-z]\w*$/.test(name)) return `“${piece.slice(0, 40)}” is not of the form name=value`
  return seen.has(name) ? `${name.slice(0, 40)} is given more than once` : null
}

/** The value of a tag, or undefined. Names are case-sensitive. */
export function valueOf(tags: readonly Tag[], name: string): string | undefined {
  return tags.find((tag) => tag.name === name)?.value
}

/** Tag names and values as an object. */
export function tagsObject(tags: readonly Tag[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ name, value }) => [name, value]))
}

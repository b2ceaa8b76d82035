/** Text that is serialized in one turn of the event loop. It takes about a millisecond. */
const SLICE_CHARACTERS = 64 * 1024

/** What a value other than text has about, in characters. */
const VALUE_CHARACTERS = 20

/** How deep a list can be in a body, as `data.proof.mailboxes`. */
const MAX_DEPTH = 3

/** Properties of an object that is a list by name, as the folders of a migration. */
const MIN_NAMED_ROWS = 500

type Body = Record<string, unknown>
type Path = readonly string[]
type List = unknown[] | Body

/**
 * Serializes a body with a long list in slices, between which other requests can get their turn.
 * @param serialize of the whole body, and of one with fewer rows
 * @returns undefined for a body without a long list, which is serialized at once
 */
export function serializeInSlices(
  serialize: (body: unknown) => string,
  body: unknown,
): AsyncGenerator<string> | undefined {
  const path = findLongList(body)
  if (!path) return undefined
  const list = path.reduce<unknown>((part, key) => (part as Body)[key], body) as List
  const rows = Array.isArray(list) ? list : Object.entries(list)
  const textOf = (from: number, to: number) => {
    const some = rows.slice(from, to)
    const part = Array.isArray(list) ? some : Object.fromEntries(some as [string, unknown][])
    return serialize(withList(body, path, part))
  }
  // Before the response begins, so that an error becomes an error response.
  const [empty, first] = [textOf(0, 0), textOf(0, 1)]
  // No row begins as the list ends, so the texts are equal up to the first row.
  let start = 0
  while (first[start] === empty[start]) start++
  const end = empty.slice(start)

  async function* write(): AsyncGenerator<string> {
    yield first.slice(0, first.length - end.length)
    let charactersOfRow = first.length - empty.length
    for (let at = 1; at < rows.length;) {
      const count = Math.max(1, Math.floor(SLICE_CHARACTERS / charactersOfRow))
      const text = textOf(at, at + count)
      yield `,${text.slice(start, text.length - end.length)}`
      charactersOfRow = (text.length - empty.length) / Math.min(count, rows.length - at)
      at += count
    }
    yield end
  }
  return write()
}

/** The path of the longest list in a body, if it is longer than a slice; empty if it is the body. */
function findLongList(body: unknown): Path | undefined {
  let longest: { path: Path; characters: number } | undefined
  function search(part: unknown, path: Path): void {
    if (isList(part)) {
      const characters = estimate(part)
      if (characters > (longest?.characters ?? SLICE_CHARACTERS)) longest = { path, characters }
    } else if (isObject(part) && path.length < MAX_DEPTH)
      for (const [key, value] of Object.entries(part)) search(value, [...path, key])
  }
  search(body, [])
  return longest?.path
}

function isList(value: unknown): value is List {
  return Array.isArray(value) || (isObject(value) && Object.keys(value).length >= MIN_NAMED_ROWS)
}

/** About how many characters rows have, without a look at what is nested in them. */
function estimate(list: List): number {
  const names = Array.isArray(list) ? [] : Object.keys(list)
  let characters = names.reduce((sum, name) => sum + name.length, 0)
  for (const row of Object.values(list)) {
    for (const value of isObject(row) ? Object.values(row) : [row])
      characters += VALUE_CHARACTERS + (typeof value === 'string' ? value.length : 0)
  }
  return characters
}

/** A copy of a body with other rows. */
function withList(body: unknown, [key, ...rest]: Path, rows: List): unknown {
  if (key === undefined) return rows
  const part = body as Body
  return { ...part, [key]: withList(part[key], rest, rows) }
}

/** Whether a value is an object that a body is made of, rather than a Date or the like. */
function isObject(value: unknown): value is Body {
  return (
    typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)
  )
}

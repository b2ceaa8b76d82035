type JsonToken = { kind: 'mark' | 'key' | 'string' | 'number' | 'word'; text: string }
/** A line of JSON set out for reading, and how deep it stands. */
export type Line = { depth: number; tokens: JsonToken[] }

const PIECES = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Formats JSON for reading without parsing it into values: numbers keep all their digits, and
 * duplicate names are kept.
 * @returns the browser’s error message when the text is not JSON
 */
export function formatJson(text: string): { lines: Line[] } | { problem: string } {
  try {
    JSON.parse(text)
  } catch (error) {
    return { problem: (error as Error).message }
  }
  const lines: Line[] = [{ depth: 0, tokens: [] }]
  const pieces = text.match(PIECES) ?? []
  let depth = 0
  const put = (token: JsonToken) => lines.at(-1)?.tokens.push(token)
  const breakLine = () => lines.push({ depth, tokens: [] })
  pieces.forEach((piece, index) => {
    const next = pieces[index + 1]
    if (isOpening(piece)) {
      put({ kind: 'mark', text: piece })
      depth += 1
      if (!isClosing(next)) breakLine()
    } else if (isClosing(piece)) {
      depth -= 1
      if (!isOpening(pieces[index - 1])) breakLine()
      put({ kind: 'mark', text: piece })
    } else if (piece === ',') {
      put({ kind: 'mark', text: ',' })
      breakLine()
    } else if (piece === ':') {
      put({ kind: 'mark', text: ': ' })
    } else {
      put({ kind: kindOf(piece, next), text: piece })
    }
  })
  return { lines }
}

function isOpening(piece: string | undefined): boolean {
  return piece === '{' || piece === '['
}

function isClosing(piece: string | undefined): boolean {
  return piece === '}' || piece === ']'
}

function kindOf(piece: string, next: string | undefined): JsonToken['kind'] {
  if (piece.startsWith('"')) return next === ':' ? 'key' : 'string'
  return /^[-\d]/.test(piece) ? 'number' : 'word'
}

/** The lines as text, two blanks for each level. */
export function linesToText(lines: Line[]): string[] {
  return lines.map(
    ({ depth, tokens }) => '  '.repeat(depth) + tokens.map(({ text }) => text).join(''),
  )
}

const MAX_HEADERS = 10

/** Headers that the connection sets itself. */
const RESERVED = new Set([
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
])

const HEADER = /^([A-Za-z0-9!#$%&'*+.^_`~-]{1,100}):\s*([\x20-\x7e]*)$/

function linesOf(text: string): string[] {
  return text
    .split(/[\r\n|]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Why headers cannot be sent, in a sentence without their values; null where they can. */
export function problemWithHeaders(text: string): string | null {
  const lines = linesOf(text)
  if (lines.length > MAX_HEADERS) return `Up to ${MAX_HEADERS} headers are possible.`
  for (const [index, line] of lines.entries()) {
    const name = HEADER.exec(line)?.[1]?.toLowerCase()
    if (name === undefined) return `Header ${index + 1} is not of the form “Name: value”.`
    if (RESERVED.has(name)) return `The header ${name} is set by Portreeve itself.`
  }
  return null
}

/** The headers of lines that `problemWithHeaders` finds no fault with. */
export function parseHeaders(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const [, name = '', value = ''] = HEADER.exec(line) ?? []
      return [name.toLowerCase(), value]
    }),
  )
}

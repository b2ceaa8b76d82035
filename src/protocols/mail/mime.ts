import { decodeBytes, decodeWords, firstValue, parseParameters } from './mime-header.ts'
import type { HeaderField, Message } from './message.ts'

/** A part of a mail (RFC 2046). `body` is in Latin-1, as it was transferred. */
export type MimePart = {
  fields: HeaderField[]
  /** `text/plain`, in lower case; the default where the field is missing or unreadable. */
  type: string
  parameters: Map<string, string>
  /** `attachment`, `inline` or another word, in lower case; "" without one. */
  disposition: string
  filename: string | null
  /** Content-Transfer-Encoding in lower case; `7bit` by default. */
  encoding: string
  body: string
  parts: MimePart[]
}

export type MimeStructure = {
  root: MimePart
  /** Every part without parts of its own, in order. */
  leaves: MimePart[]
  /** What is wrong with the structure, as sentences. */
  faults: string[]
  /** Parts were left out, because the mail has too many or nests them too deeply. */
  isCut: boolean
}

const MAX_MIME_DEPTH = 20
const MAX_MIME_PARTS = 300
const MAX_FAULTS = 10

/**
 * Splits a mail into its parts, within a depth of 20 and 300 parts. Each level reads a part once, so
 * the time is at most 20 times that of reading the mail.
 */
export function parseMime(message: Message): MimeStructure {
  const structure: Pick<MimeStructure, 'faults' | 'isCut' | 'leaves'> & { parts: number } = {
    faults: [],
    isCut: false,
    leaves: [],
    parts: 0,
  }
  const root = readPart(message.fields, message.body, 0, 'text/plain')
  return {
    root,
    leaves: structure.leaves,
    faults: structure.faults.slice(0, MAX_FAULTS),
    isCut: structure.isCut,
  }

  function readPart(
    fields: HeaderField[],
    body: string,
    depth: number,
    defaultType: string,
  ): MimePart {
    structure.parts++
    const part = describePart(fields, body, defaultType)
    if (part.type.startsWith('multipart/')) readMultipart(part, depth)
    if (part.parts.length === 0) structure.leaves.push(part)
    return part
  }

  function readMultipart(part: MimePart, depth: number): void {
    const boundary = part.parameters.get('boundary') ?? ''
    if (boundary === '') {
      structure.faults.push(`A ${part.type} part has no boundary.`)
      return
    }
    if (boundary.length > 70)
      structure.faults.push(`A boundary has ${boundary.length} characters; 70 are allowed.`)
    if (depth >= MAX_MIME_DEPTH) {
      structure.isCut = true
      return
    }
    const { sections, isClosed } = splitAtBoundary(part.body, boundary)
    if (sections.length === 0)
      structure.faults.push(`The boundary of a ${part.type} part never appears.`)
    else if (!isClosed)
      structure.faults.push(`A ${part.type} part does not end with its closing boundary.`)
    const defaultType = part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    for (const section of sections) {
      if (structure.parts >= MAX_MIME_PARTS) {
        structure.isCut = true
        return
      }
      const { fields, body } = splitSection(section)
      part.parts.push(readPart(fields, body, depth + 1, defaultType))
    }
  }
}

/** RFC 2046, 5.1.1. White space may stand behind a boundary. */
function splitAtBoundary(
  body: string,
  boundary: string,
): { sections: string[]; isClosed: boolean } {
  const text = `\r\n${body}`
  const delimiter = `\r\n--${boundary}`
  const sections: string[] = []
  let start = -1
  let at = 0
  for (;;) {
    at = text.indexOf(delimiter, at)
    if (at < 0) break
    const behind = at + delimiter.length
    const lineEnd = text.indexOf('\r\n', behind)
    const rest = text.slice(behind, lineEnd < 0 ? Math.min(text.length, behind + 1000) : lineEnd)
    const isEnd = /^--[ \t]*$/.test(rest)
    if (!isEnd && !/^[ \t]*$/.test(rest)) {
      at = behind
      continue
    }
    if (start >= 0) sections.push(text.slice(start, at))
    if (isEnd) return { sections, isClosed: true }
    if (sections.length > MAX_MIME_PARTS || lineEnd < 0) return { sections, isClosed: false }
    start = lineEnd + 2
    // An empty part: its delimiter’s line break is also that of the next.
    at = lineEnd
  }
  if (start >= 0) sections.push(text.slice(start))
  return { sections, isClosed: false }
}

/** The largest header of a part; a body that begins without an empty line is no header. */
const MAX_PART_HEADER = 64 * 1024

function splitSection(section: string): { fields: HeaderField[]; body: string } {
  if (section.startsWith('\r\n')) return { fields: [], body: section.slice(2) }
  const end = section.indexOf('\r\n\r\n')
  const header = (end < 0 ? section : section.slice(0, end)).slice(0, MAX_PART_HEADER)
  const fields = header.split(/\r\n(?![ \t])/).flatMap((raw) => {
    const colon = raw.indexOf(':')
    return colon < 0 ? [] : [{ name: raw.slice(0, colon).trim().toLowerCase(), raw }]
  })
  return { fields, body: end < 0 ? '' : section.slice(end + 4) }
}

function describePart(fields: HeaderField[], body: string, defaultType: string): MimePart {
  const contentType = parseParameters(firstValue(fields, 'content-type') ?? defaultType)
  const isReadable = /^[\w!#$&^+.-]+\/[\w!#$&^+.-]+$/.test(contentType.value)
  const disposition = parseParameters(firstValue(fields, 'content-disposition') ?? '')
  const filename = disposition.parameters.get('filename') ?? contentType.parameters.get('name')
  const encoding = firstValue(fields, 'content-transfer-encoding')
  return {
    fields,
    type: isReadable ? contentType.value : 'text/plain',
    parameters: contentType.parameters,
    disposition: disposition.value,
    filename: filename === undefined ? null : decodeWords(filename).slice(0, 255),
    encoding: parseParameters(encoding ?? '7bit').value || '7bit',
    body,
    parts: [],
  }
}

/** Characters of a text that are decoded. */
export const MAX_TEXT_CHARACTERS = 1024 * 1024

/** The bytes of a part, up to a number of transferred characters. Never throws. */
export function contentOf(part: MimePart, characters = MAX_TEXT_CHARACTERS): Buffer {
  const body = part.body.slice(0, characters)
  if (part.encoding === 'base64') return Buffer.from(body, 'base64')
  if (part.encoding === 'quoted-printable') return decodeQuotedPrintable(body)
  return Buffer.from(body, 'latin1')
}

function decodeQuotedPrintable(body: string): Buffer {
  const text = body
    .replaceAll(/=[ \t]*\r\n/g, '')
    .replaceAll(/=([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCodePoint(Number.parseInt(hex, 16)),
    )
  return Buffer.from(text, 'latin1')
}

/** The text of a part in its charset, or as UTF-8 where that is not known. */
export function textOf(part: MimePart): string {
  const bytes = contentOf(part)
  const charset = part.parameters.get('charset') ?? 'utf-8'
  return decodeBytes(bytes, charset) ?? decodeBytes(bytes, 'utf-8') ?? ''
}

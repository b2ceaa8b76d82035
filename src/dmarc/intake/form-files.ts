import { MAX_UPLOAD_FILES } from '../limits.ts'
import type { GivenFile } from './ingest.ts'

/**
 * The files of a complete form (RFC 7578): all parts with a file name, or all parts if none has
 * one.
 * @param contentType as sent, with its boundary
 * @returns null if the body is not a form or has no boundary
 */
export function parseFormFiles(body: Buffer, contentType: string): GivenFile[] | null {
  const [, quoted, bare] =
    /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
      contentType,
    ) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) return null
  const parts = partsOf(body, `--${boundary}`).flatMap((part) => fileOf(part))
  const named = parts.filter(({ isFile }) => isFile)
  return (named.length > 0 ? named : parts).map(({ name, bytes }) => ({ name, bytes }))
}

/** Parts that are parsed: more than a form may have, but few enough for memory. */
const MAX_FORM_PARTS = 10 * MAX_UPLOAD_FILES

/** The bytes between delimiters, including header fields. */
function partsOf(body: Buffer, delimiter: string): Buffer[] {
  const parts: Buffer[] = []
  let start = body.indexOf(delimiter)
  while (start !== -1 && parts.length < MAX_FORM_PARTS) {
    start += delimiter.length
    const next = body.indexOf(`\r\n${delimiter}`, start)
    if (next === -1) break
    parts.push(body.subarray(start, next))
    start = next + 2
  }
  return parts
}

function fileOf(part: Buffer): (GivenFile & { isFile: boolean })[] {
  const end = part.indexOf('\r\n\r\n')
  if (end === -1) return []
  const header = part.subarray(0, end).toString('utf8')
  const fileName = /\bfilename="((?:[^"\\]|\\.)*)"/i.exec(header)?.[1]
  return [
    { name: fileName || 'upload', bytes: part.subarray(end + 4), isFile: fileName !== undefined },
  ]
}

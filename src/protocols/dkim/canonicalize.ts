import { unfold, type HeaderField } from '../mail/message.ts'
import type { Canonicalization, DkimSignature } from './dkim-signature.ts'

/**
 * The body as it is signed (RFC 6376, 3.4.3 and 3.4.4), in linear time for any body: a mail of blanks
 * must not hold up others.
 */
export function canonicalBody(body: string, canonicalization: Canonicalization): string {
  const text =
    canonicalization === 'simple'
      ? body
      : `${body}\r\n`.replaceAll(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n')
  let end = text.length
  while (end > 0 && text.endsWith('\r\n', end)) end -= 2
  const content = text.slice(0, end)
  return content === '' && canonicalization === 'relaxed' ? '' : `${content}\r\n`
}

/**
 * What a signature signs of the header (RFC 6376, 3.7): of each name in `h` the last field that is
 * left, and its own field with an empty `b`.
 */
export function canonicalHeader(
  fields: readonly HeaderField[],
  { field: own, signedFields, canonicalization }: DkimSignature,
): string {
  // RFC 6376, 3.5: `h` never means the signature's own field.
  const left = Map.groupBy(
    fields.filter((field) => field !== own),
    ({ name }) => name,
  )
  const canonical = canonicalization.header === 'simple' ? ({ raw }: HeaderField) => raw : relaxed
  const lines = signedFields
    .map((name) => left.get(name)?.pop())
    .filter((field) => field !== undefined)
    .map((field) => `${canonical(field)}\r\n`)
  return lines.join('') + canonical(withoutSignature(own))
}

/** RFC 6376, 3.4.2. */
function relaxed({ name, raw }: HeaderField): string {
  const value = unfold(raw.slice(raw.indexOf(':') + 1)).replaceAll(/[ \t]+/g, ' ')
  return `${name}:${value.replace(/^ /, '').replace(/ $/, '')}`
}

function withoutSignature({ name, raw }: HeaderField): HeaderField {
  const start = raw.indexOf(':') + 1
  const value = raw.slice(start).replace(/(^|;)([ \t\r\n]*b[ \t\r\n]*=)[^;]*/, '$1$2')
  return { name, raw: raw.slice(0, start) + value }
}

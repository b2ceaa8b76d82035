import { domainOf } from '../reports/report-values.ts'

/** A header field as it was received, without its final CRLF; the name in lower case. */
export type HeaderField = { name: string; raw: string }

/** A mail in Latin-1, a character for each byte, whose lines all end with CRLF. */
export type Message = { fields: HeaderField[]; body: string }

/** Splits a mail into its header fields and its body (RFC 5322, 2.1). */
export function parseMessage(mail: Uint8Array): Message {
  // A mail without a header begins with the empty line.
  const text = `\r\n${Buffer.from(mail.buffer, mail.byteOffset, mail.length).toString('latin1')}`
  const lines = text.replace(/(?<!\r)\n/g, '\r\n')
  const end = lines.indexOf('\r\n\r\n')
  const header = end < 0 ? lines.slice(2).replace(/\r\n$/, '') : lines.slice(2, end)
  const fields = header.split(/\r\n(?![ \t])/).map((raw) => {
    const [name = ''] = raw.includes(':') ? raw.split(':', 1) : []
    return { name: name.replace(/[ \t]+$/, '').toLowerCase(), raw }
  })
  return { fields, body: end < 0 ? '' : lines.slice(end + 4) }
}

/** The values of the fields of a name, unfolded (RFC 5322, 2.2.3). */
export function fieldValues({ fields }: Message, name: string): string[] {
  return fields
    .filter((field) => field.name === name)
    .map(({ raw }) => unfold(raw.slice(raw.indexOf(':') + 1)))
}

export function unfold(value: string): string {
  return value.replaceAll('\r\n', '')
}

/**
 * The Author Domain (RFC 9989, 3.2.2): the one domain of all addresses in the one From field, as an
 * A-label. Null when it is not certain which domain a reader sees: with several fields or domains,
 * or anything that is no address.
 */
export function authorDomain(message: Message): string | null {
  const values = fieldValues(message, 'from')
  const [value] = values
  if (value === undefined || values.length > 1) return null
  const addresses = withoutQuotes(value)
    .split(/[,;]/)
    .filter((address) => address.trim() !== '')
  const domains = new Set(addresses.map(addressDomain))
  const [domain] = domains
  return domains.size === 1 ? (domain ?? null) : null
}

/** Blanks quoted strings and nested comments (RFC 5322, 3.2), in which an `@` says nothing. */
function withoutQuotes(value: string): string {
  let text = ''
  let depth = 0
  let isQuoted = false
  for (const [token] of value.matchAll(/\\.|[^\\]|\\$/gs)) {
    if (token === '"' && depth === 0) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (token === '(') depth++
    else if (token === ')' && depth > 0) depth--
    else if (depth === 0) text += token
  }
  // Without its end, a reader may see anything of the rest.
  return depth > 0 || isQuoted ? '' : text
}

/** The domain of an address; null when it has none, or when more than one `@` could begin it. */
function addressDomain(address: string): string | null {
  const parts = address.split('@')
  const [, domain = ''] = /^[ \t]*([^\s<>:\\[\]"]+)[ \t]*>?[ \t]*$/.exec(parts[1] ?? '') ?? []
  return parts.length === 2 ? domainNameOf(domain.replace(/\.$/, '')) : null
}

/**
 * A domain name in lower case, with A-labels; null for anything else.
 * @param text in Latin-1, as in a `Message`
 */
export function domainNameOf(text = ''): string | null {
  const name = domainOf(Buffer.from(text, 'latin1').toString()) ?? ''
  const isName =
    !text.endsWith('.') &&
    name.split('.').every((label) => /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/.test(label))
  return isName && name.length <= 253 ? name : null
}

import { decodeHead } from './charset.ts'

/** Something that holds other things. */
export type Container = 'gzip' | 'zip' | 'base64' | 'mail'
export type Sniffed =
  | { is: Container }
  | { is: 'aggregate' | 'tls' }
  | { is: 'unknown'; reason: string }

/**
 * Detects the type of a file from its first bytes, because names and media types are unreliable.
 */
export function detectType(head: Uint8Array): Sniffed {
  if (startsWith(head, [0x1f, 0x8b])) return { is: 'gzip' }
  if (startsWith(head, [0x50, 0x4b, 0x03, 0x04]) || startsWith(head, [0x50, 0x4b, 0x05, 0x06]))
    return { is: 'zip' }
  const text = decodeHead(head).trimStart()
  if (text === '') return unknown('The file is empty.')
  if (text.startsWith('<')) return sniffXml(text)
  if (text.startsWith('{')) return sniffJson(text)
  if (isMail(text)) return { is: 'mail' }
  if (isBase64(text)) return { is: 'base64' }
  // Some reporters put a word or two before the XML; the parser reads past them.
  return FEEDBACK.test(text)
    ? { is: 'aggregate' }
    : unknown('The file is not a report: it is neither XML, JSON, a message nor an archive.')
}

const FEEDBACK = /<(?:[\w.-]{1,40}:)?feedback[\s/>]|<!DOCTYPE\s{1,9}(?:[\w.-]{1,40}:)?feedback\b/

function sniffXml(text: string): Sniffed {
  if (FEEDBACK.test(text)) return { is: 'aggregate' }
  if (/^<(?:!doctype\s+)?html\b/i.test(text))
    return unknown('The file is a web page, not a report.')
  return unknown('The file is XML, but not a DMARC report: the <feedback> element is missing.')
}

function sniffJson(text: string): Sniffed {
  const isReport = /"(?:organization-name|date-range|contact-info|report-id|policies)"\s*:/.test(
    text,
  )
  return isReport ? { is: 'tls' } : unknown('The file is JSON, but not an SMTP TLS report.')
}

function unknown(reason: string): Sniffed {
  return { is: 'unknown', reason }
}

const KNOWN_FIELD =
  /^(?:from|to|date|subject|received|return-path|message-id|mime-version|content-type|delivered-to|reply-to|sender|dkim-signature|authentication-results|x-[\w-]+)[ \t]*:/im

/** A mail begins with header fields, one of them well known, perhaps after the line of an mbox. */
function isMail(text: string): boolean {
  const fields = text.replace(/^>?From [^\n]*\n/, '').split(/\r?\n\r?\n/, 1)[0] ?? ''
  return /^[!-9;-~]+[ \t]*:/.test(fields) && KNOWN_FIELD.test(fields)
}

/** Whether text is base64 of gzip, zip or XML, whose encoding the sender did not declare. */
function isBase64(text: string): boolean {
  return /^(?:H4sI|UEsDB|PD94|PGZl)/.test(text) && /^[\w+/=\s]*$/.test(text)
}

/** Finds a report, possibly compressed, in the text of a message, where some senders put it. */
export function reportInText(text: string): string | null {
  const at = text.search(/<(?:[\w.-]{1,40}:)?feedback[\s/>]|^\{\s*"/m)
  if (at >= 0) return text.slice(at)
  return /^(?:H4sI|UEsDB|PD94|PGZl)[\w+/=\s]+/m.exec(text)?.[0] ?? null
}

function startsWith(head: Uint8Array, bytes: number[]): boolean {
  return bytes.every((byte, at) => head[at] === byte)
}

import { clipText } from '../../clip-text.ts'
import { MAX_LENGTH } from '../../http/http-schema.ts'
import { classify, parseAddress } from '../../net/address.ts'
import { decodeWords } from '../../protocols/mail/mime-header.ts'
import {
  authorDomain,
  fieldValues,
  parseMessage,
  type Message,
} from '../../protocols/mail/message.ts'
import { parseMailDate } from '../../protocols/mail/mail-date.ts'

/** What a mail’s own header says about its delivery. A sender can write anything there. */
export type ReportedFacts = {
  ip: string | null
  helo: string | null
  mailFrom: string | null
  rcptTo: string | null
  receivedAt: Date | null
}

/** Received fields that are read, from the top. */
const MAX_HOPS = 20

/**
 * Reads who delivered a mail from its Received fields: the topmost that names a public address, as
 * the servers of the receiver stand above it.
 */
export function readReportedFacts(message: Message): ReportedFacts {
  const hops = fieldValues(message, 'received').slice(0, MAX_HOPS).map(readHop)
  const hop =
    hops.find(({ ip }) => ip !== null && classify(ip).public) ?? hops.find(({ ip }) => ip !== null)
  const returnPath = fieldValues(message, 'return-path')[0]
  const recipient =
    fieldValues(message, 'x-original-to')[0] ?? fieldValues(message, 'delivered-to')[0]
  return {
    ip: hop?.ip ?? null,
    helo: hop?.helo ?? null,
    mailFrom: returnPath === undefined ? null : bare(returnPath),
    rcptTo: recipient === undefined ? null : bare(recipient),
    receivedAt: hops[0]?.date ?? null,
  }
}

function bare(value: string): string {
  return value
    .trim()
    .replace(/^<(.*)>$/, '$1')
    .slice(0, 320)
}

type Hop = { ip: string | null; helo: string | null; date: Date | null }

/** `from HELO (NAME [ADDRESS]) by …; DATE` (RFC 5321, 4.4). */
function readHop(value: string): Hop {
  const text = value.slice(0, 2_000)
  const from = /^\s*from\s+(\S+)(.*?)(?:\sby\s|$)/is.exec(text)
  const candidates = [
    ...(from?.[2] ?? '').matchAll(/\[(?:IPv6:)?([\da-f.:]{3,45})\]|\(([\da-f.:]{7,45})\)/gi),
  ]
  const addresses = candidates.flatMap(
    ([, bracketed, other]) => parseAddress(bracketed ?? other ?? '')?.address ?? [],
  )
  const semicolon = text.lastIndexOf(';')
  return {
    ip: addresses.at(-1) ?? null,
    helo: from?.[1]?.slice(0, 255) ?? null,
    date: semicolon < 0 ? null : parseMailDate(text.slice(semicolon + 1)),
  }
}

/** The fields of a mail that a list shows, and the domain in From. */
export function readTitles(bytes: Uint8Array): {
  subject: string | null
  fromHeader: string | null
  fromDomain: string | null
} {
  const message = parseMessage(bytes.subarray(0, MAX_HEADER_BYTES))
  const shown = (name: string) => {
    const value = fieldValues(message, name)[0]
    if (value === undefined) return null
    return clipText(decodeWords(value), 300)
  }
  const domain = authorDomain(message)
  return {
    subject: shown('subject'),
    fromHeader: shown('from'),
    fromDomain: domain !== null && domain.length <= MAX_LENGTH.host ? domain : null,
  }
}

/** Bytes in which the header of a mail is searched for titles and codes. */
export const MAX_HEADER_BYTES = 64 * 1024

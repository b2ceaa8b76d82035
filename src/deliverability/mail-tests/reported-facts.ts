import { clipText } from '../../clip-text.ts'
import { MAX_LENGTH } from '../../http/http-schema.ts'
import { classify, parseAddress } from '../../net/address.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { decodeWords } from '../../protocols/mail/mime-header.ts'
import {
  authorDomain,
  fieldValues,
  parseMessage,
  unfold,
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
 * Reads who delivered a mail: the address that the receiver’s SPF check names, as its own servers may
 * have public addresses, too; else that of the topmost Received field with a public one.
 */
export function readReportedFacts(message: Message): ReportedFacts {
  const hops = fieldValues(message, 'received').slice(0, MAX_HOPS).map(readHop)
  const checked = checkedAddress(message, hops)
  const hop =
    checked === null
      ? (hops.find(isPublicHop) ?? hops.find(({ ip }) => ip !== null))
      : hops.find(({ ip }) => ip === checked)
  const returnPath = fieldValues(message, 'return-path')[0]
  const recipient =
    fieldValues(message, 'x-original-to')[0] ?? fieldValues(message, 'delivered-to')[0]
  return {
    ip: checked ?? hop?.ip ?? originatingAddress(message),
    helo: hop?.helo ?? null,
    mailFrom: returnPath === undefined ? null : bare(returnPath),
    rcptTo: recipient === undefined ? null : bare(recipient),
    receivedAt: hops[0]?.date ?? null,
  }
}

const isPublicHop = ({ ip }: Hop) => ip !== null && classify(ip).public

/**
 * The address that the receiver checked. The check of an earlier receiver, such as a mailing list,
 * does not count: servers of another domain stand above it.
 */
function checkedAddress({ fields }: Message, hops: readonly Hop[]): string | null {
  let above = 0
  for (const { name, raw } of fields) {
    if (name === 'received') above++
    const text = CHECKS[name]?.exec(unfold(raw))?.[1]
    if (text === undefined) continue
    const address = parseAddress(text)?.address ?? null
    const checkedHop = hops[above]
    const isOwn =
      !hops.slice(0, above).some(isPublicHop) ||
      (checkedHop?.ip === address && isOneDomain(hops[0]?.by, checkedHop?.by))
    return isOwn ? address : null
  }
  return null
}

/** Fields that name it: `client-ip` (RFC 7208, 9.1), and the words of Microsoft. */
const CHECKS: Record<string, RegExp | undefined> = {
  'received-spf': /\bclient-ip=["[]?([\da-f.:]{3,45})/i,
  'authentication-results': /\bsender ip is ([\da-f.:]{3,45})/i,
}

/** Where no Received field names an address; some webmail names the person’s own here. */
function originatingAddress(message: Message): string | null {
  const [value = ''] = fieldValues(message, 'x-originating-ip')
  return parseAddress(value.trim().replace(/^\[(.*)\]$/, '$1'))?.address ?? null
}

function bare(value: string): string {
  return value
    .trim()
    .replace(/^<(.*)>$/, '$1')
    .slice(0, 320)
}

type Hop = {
  ip: string | null
  helo: string | null
  /** The server that wrote the field. */
  by: string
  date: Date | null
}

/** `from HELO (NAME [ADDRESS]) by …; DATE` (RFC 5321, 4.4). */
function readHop(value: string): Hop {
  const text = value.slice(0, 2_000)
  const from = /^\s*from\s+(\S+)(.*?)(?:\sby\s+(\S*)|$)/is.exec(text)
  const addresses = addressesIn(from?.[2] ?? '')
  // Some servers write the address in place of the name.
  if (addresses.length === 0) addresses.push(...addressesIn(from?.[1] ?? ''))
  const semicolon = text.lastIndexOf(';')
  return {
    ip: addresses.at(-1) ?? null,
    helo: from?.[1]?.slice(0, 255) ?? null,
    by: (from?.[3] ?? '').toLowerCase(),
    date: semicolon < 0 ? null : parseMailDate(text.slice(semicolon + 1)),
  }
}

function addressesIn(text: string): string[] {
  const candidates = [...text.matchAll(/\[(?:IPv6:)?([\da-f.:]{3,45})\]|\(([\da-f.:]{7,45})\)/gi)]
  return candidates.flatMap(
    ([, bracketed, other]) => parseAddress(bracketed ?? other ?? '')?.address ?? [],
  )
}

function isOneDomain(one = '', other = ''): boolean {
  const domain = registeredDomain(one)
  return domain !== null && domain === registeredDomain(other)
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

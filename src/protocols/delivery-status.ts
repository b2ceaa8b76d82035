import PostalMime, { type Email } from 'postal-mime'

/** What became of an email for one recipient (RFC 3464). */
export type DeliveryFailure = {
  /** An enhanced status code (RFC 3463), such as 5.1.1. */
  status: string
  /** What the mail server said; null where it said nothing. */
  diagnostic: string | null
}

export type DeliveryStatus = {
  /** The addresses to which the notification was delivered, as its headers name them. */
  addresses: string[]
  /** The recipients that finally did not get the email. */
  failures: DeliveryFailure[]
}

/** Fields with the envelope recipient, as delivery agents add them. */
const RECIPIENT_FIELDS = new Set(['to', 'delivered-to', 'x-original-to', 'envelope-to'])
const MAX_RECIPIENTS = 100
const MAX_DIAGNOSTIC_LENGTH = 200

/**
 * Reads a delivery status notification (RFC 3464).
 * @returns null for any other message
 */
export async function parseDeliveryStatus(bytes: Uint8Array): Promise<DeliveryStatus | null> {
  const email = await parse(bytes)
  if (!email || !isStatusReport(email)) return null
  const part = email.attachments.find(({ mimeType }) => mimeType === 'message/delivery-status')
  if (!part) return null
  const text =
    typeof part.content === 'string' ? part.content : new TextDecoder().decode(part.content)
  // The first group of fields is about the message, each further one about a recipient.
  const [, ...recipients] = text.split(/(?:\r?\n){2,}/, MAX_RECIPIENTS + 1).map(fieldsOf)
  return {
    addresses: email.headers
      .filter(({ key }) => RECIPIENT_FIELDS.has(key))
      .flatMap(({ value }) => value.match(/[^\s<>,;:"]+@[^\s<>,;:"]+/g) ?? []),
    failures: recipients
      .filter((fields) => fields.get('action')?.toLowerCase() === 'failed')
      .map((fields) => ({
        status: /^\d\.\d{1,3}\.\d{1,3}/.exec(fields.get('status') ?? '')?.[0] ?? '',
        diagnostic: diagnosticIn(fields),
      })),
  }
}

async function parse(bytes: Uint8Array): Promise<Email | null> {
  try {
    return await PostalMime.parse(bytes, { forceRfc822Attachments: true, maxNestingDepth: 30 })
  } catch {
    return null
  }
}

function isStatusReport({ headers }: Email): boolean {
  const type = headers.find(({ key }) => key === 'content-type')?.value.toLowerCase() ?? ''
  return type.startsWith('multipart/report') && /report-type="?delivery-status/.test(type)
}

function fieldsOf(group: string): Map<string, string> {
  const lines = group.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const colon = line.indexOf(':')
      return colon < 1
        ? []
        : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]]
    }),
  )
}

/** A diagnostic code without its type. */
function diagnosticIn(fields: Map<string, string>): string | null {
  const text = (fields.get('diagnostic-code') ?? '').replace(/^[\w-]+\s*;\s*/, '')
  return (
    text
      .replace(/[^\x20-\x7e]/g, ' ')
      .slice(0, MAX_DIAGNOSTIC_LENGTH)
      .trim() || null
  )
}

import { parseAddress } from '../../net/address.ts'
import { firstValue } from '../mail/mime-header.ts'
import {
  authorDomain,
  domainNameOf,
  fieldValues,
  parseMessage,
  unfold,
  type Message,
} from '../mail/message.ts'
import { contentOf, parseMime, type MimePart } from '../mail/mime.ts'

/** A report about one mail, by its recipient or their provider (RFC 5965, RFC 6650). */
export type FeedbackReport = {
  /** `abuse`, `fraud`, `virus`, `not-spam`, `auth-failure` or another word, in lower case. */
  type: string
  /** Mails that it stands for, 1 to 1,000 (`Incidents`, RFC 5965, 3.2). */
  incidents: number
  /** The address that sent the mail. */
  source: string | null
  /** The author domain of the mail, else the reported domain, else that of the envelope sender. */
  domain: string | null
  /** The envelope recipients, in lower case; many providers remove them. */
  recipients: string[]
  /** The header of the mail; null when the report has none. Its body is never read. */
  header: Message | null
}

/** Bytes that are read: reports come before the mail, of which only the header counts. */
const MAX_READ_BYTES = 1024 * 1024
const MAX_REPORT_CHARACTERS = 64 * 1024
const MAX_HEADER_CHARACTERS = 256 * 1024
const MAX_INCIDENTS = 1_000

/** Names the recipient in mails of Microsoft’s Junk Mail Reporting Program. */
const MICROSOFT_RECIPIENT = 'x-hmxmroriginalrecipient'

/**
 * Reads a report in the Abuse Reporting Format, or one of Microsoft, which may be the mail alone;
 * null for any other mail.
 */
export function parseFeedbackReport(mail: Uint8Array): FeedbackReport | null {
  const { leaves } = parseMime(parseMessage(mail.subarray(0, MAX_READ_BYTES)))
  const header = headerOf(leaves)
  const report = leaves.find(({ type }) => type === 'message/feedback-report')
  if (!report) return header && microsoftReport(header)
  // A report whose lines end with an empty one is all header.
  const { fields } = parseMessage(contentOf(report, MAX_REPORT_CHARACTERS))
  const valueOf = (name: string) => firstValue(fields, name) ?? ''
  const type = /^[\w-]{1,40}$/.exec(valueOf('feedback-type'))?.[0].toLowerCase()
  if (type === undefined) return null
  const recipients = fields
    .filter(({ name }) => name === 'original-rcpt-to')
    .flatMap(({ raw }) => recipientOf(unfold(raw.slice(raw.indexOf(':') + 1))))
  return {
    type,
    incidents: Math.min(MAX_INCIDENTS, Math.max(1, Number.parseInt(valueOf('incidents'), 10) || 1)),
    source: addressOf(valueOf('source-ip')),
    domain:
      (header && authorOf(header)) ??
      domainNameOf(valueOf('reported-domain')) ??
      domainNameOf(domainPart(valueOf('original-mail-from'))) ??
      (header && returnDomain(header)),
    recipients: recipients.length > 0 || !header ? recipients : microsoftRecipients(header),
    header,
  }
}

/** A report without a machine-readable part: the mail, with the recipient in its header. */
function microsoftReport(header: Message): FeedbackReport | null {
  const recipients = microsoftRecipients(header)
  if (recipients.length === 0) return null
  const domain = authorOf(header) ?? returnDomain(header)
  return { type: 'abuse', incidents: 1, source: null, domain, recipients, header }
}

const microsoftRecipients = (header: Message) =>
  fieldValues(header, MICROSOFT_RECIPIENT).flatMap(recipientOf)

function recipientOf(value: string): string[] {
  const recipient = bare(value).toLowerCase()
  return recipient.includes('@') ? [recipient] : []
}

/** `192.0.2.1`, also in brackets, with the tag of RFC 5321 (4.1.3) or before a comment. */
function addressOf(value: string): string | null {
  const text = value.trim().split(/[\s(]/, 1)[0] ?? ''
  return parseAddress(text.replace(/^\[(.*)\]$/, '$1').replace(/^IPv6:/i, ''))?.address ?? null
}

/**
 * The author domain. Nothing is authenticated here, so that the address in angle brackets counts
 * where the display name looks like a second one.
 */
function authorOf(header: Message): string | null {
  const [from] = fieldValues(header, 'from')
  return authorDomain(header) ?? domainNameOf(/<[^<>@]+@([^<>@\s]+)>\s*$/.exec(from ?? '')?.[1])
}

const returnDomain = (header: Message) =>
  domainNameOf(domainPart(fieldValues(header, 'return-path')[0] ?? ''))

/** The header of the reported mail, or of its copy without a body. */
function headerOf(leaves: MimePart[]): Message | null {
  const part = leaves.find(({ type }) => /^(?:message\/rfc822|text\/rfc822-headers?)$/.test(type))
  if (!part) return null
  const { fields } = parseMessage(contentOf(part, MAX_HEADER_CHARACTERS))
  return { fields, body: '' }
}

const bare = (value: string) => value.trim().replace(/^<(.*)>$/, '$1')

function domainPart(address: string): string | undefined {
  const text = bare(address)
  return text.includes('@') ? text.slice(text.lastIndexOf('@') + 1) : undefined
}

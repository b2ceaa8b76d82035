import PostalMime, { type Email } from 'postal-mime'
import { Fault } from '../../errors.ts'
import { reportInText } from './report-type.ts'
import { domainOf } from './report-values.ts'

/** The headers of the mail around a report, none of which is authenticated. */
export type ReportMail = {
  subject: string | null
  /** The domain of an SMTP TLS report (`TLS-Report-Domain`, RFC 8460, 5.3). */
  tlsReportDomain: string | null
}

type MailPart = { name: string | null; bytes: Uint8Array<ArrayBuffer> }

export type OpenedMail = {
  mail: ReportMail
  /**
   * A report about one message (RFC 5965, 6591, 9991). It contains that message, which is private.
   */
  isFailureReport: boolean
  /** The attachments, in order. Attached mails are parts in their original form. */
  parts: MailPart[]
  /** A report, possibly compressed, in the text instead of an attachment. */
  reportText: string | null
}

/**
 * Takes a mail apart, in one go: a large one belongs into a thread of its own (`openMail`).
 * @throws Fault `invalid_request`
 */
export async function parseMail(bytes: Uint8Array): Promise<OpenedMail> {
  const email = await parse(bytes)
  const parts = email.attachments.map(({ filename, content }) => ({
    name: filename,
    bytes: bytesOf(content),
  }))
  // A wrongly labeled attachment may look like text to the mail parser.
  const reportText =
    reportInText(email.text ?? '') ??
    (parts.length === 0 ? reportInText(Buffer.from(bytes).toString('latin1')) : null)
  return {
    mail: readMail(email),
    isFailureReport: email.attachments.some(
      ({ mimeType }) => mimeType === 'message/feedback-report',
    ),
    parts,
    reportText,
  }
}

async function parse(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { forceRfc822Attachments: true, maxNestingDepth: 30 })
  } catch (cause) {
    throw new Fault('invalid_request', 'The message could not be parsed.', { cause })
  }
}

function readMail({ subject, headers }: Email): ReportMail {
  const domain = headers.find(({ key }) => key === 'tls-report-domain')?.value
  return { subject: subject?.trim() || null, tlsReportDomain: domainOf(domain?.trim()) }
}

/** A copy of its own, so that it can be handed to another thread. */
function bytesOf(content: ArrayBuffer | Uint8Array | string): Uint8Array<ArrayBuffer> {
  return typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
}

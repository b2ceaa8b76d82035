import PostalMime, { type Address, type Email } from 'postal-mime'
import { Fault } from '../errors.ts'
import { REPORT_LIMITS } from './report-limits.ts'

/** What the mail around a report says of itself; nothing of it is authenticated. */
export type ReportMail = {
  /** The address in From, in lower case. */
  from: string | null
  subject: string | null
  messageId: string | null
  date: Date | null
  /** From the topmost Return-Path field; "" for the null sender. */
  returnPath: string | null
}

export type MailPart = { name: string | null; bytes: Uint8Array }

export type OpenedMail = {
  mail: ReportMail
  /** A report about one message (RFC 5965, 6591, 9991): it holds that message, which is somebody's letter. */
  isFailureReport: boolean
  /** What is attached, in its order; mails in the mail are parts as they are. */
  parts: MailPart[]
  /** What people read. */
  text: string
}

/**
 * Takes a mail apart.
 * @throws Fault `invalid_request`, `too_large`
 */
export async function openMail(bytes: Uint8Array): Promise<OpenedMail> {
  if (countBoundaries(bytes) > BOUNDARIES) throw new Fault('too_large', 'The mail has too many parts.')
  const email = await parse(bytes)
  return {
    mail: readMail(email),
    isFailureReport: email.attachments.some(({ mimeType }) => mimeType === 'message/feedback-report'),
    parts: email.attachments.map(({ filename, content }) => ({ name: filename, bytes: bytesOf(content) })),
    text: email.text ?? '',
  }
}

async function parse(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { forceRfc822Attachments: true, maxNestingDepth: 30 })
  } catch (cause) {
    throw new Fault('invalid_request', 'The mail cannot be taken apart.', { cause })
  }
}

/** Lines that may begin a part. Real mails have dozens; the parser keeps some kilobytes for each part. */
const BOUNDARIES = 10 * REPORT_LIMITS.entries

function countBoundaries(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let count = 0
  for (let at = buffer.indexOf('\n--'); at >= 0 && count <= BOUNDARIES; at = buffer.indexOf('\n--', at + 3)) count++
  return count
}

function readMail(email: Email): ReportMail {
  const date = new Date(email.date ?? '')
  const returnPath = email.headers.find(({ key }) => key === 'return-path')
  return {
    from: addressIn(email.from),
    subject: email.subject?.trim() || null,
    messageId: email.messageId?.trim() || null,
    date: Number.isNaN(date.getTime()) ? null : date,
    returnPath: returnPath ? (email.returnPath ?? '') : null,
  }
}

function addressIn(from: Address | undefined): string | null {
  const address = from?.address ?? from?.group?.[0]?.address
  return address ? address.toLowerCase() : null
}

function bytesOf(content: ArrayBuffer | Uint8Array | string): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)
}
